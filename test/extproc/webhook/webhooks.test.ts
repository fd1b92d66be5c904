import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { OtherMember } from "../../../extproc/peers/group.js";
import type { GatewayView } from "../../../extproc/peers/message.js";
import { Receiver, WALL_MS, WebhookRig } from "../support/webhooks.js";

async function withRig(
  settings: Record<string, unknown>,
  check: (rig: WebhookRig, receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = new Receiver();
  const rig = new WebhookRig();
  try {
    rig.apply([{ url: await receiver.listen(), ...settings }]);
    await check(rig, receiver);
  } finally {
    rig.webhooks.close();
    receiver.close();
  }
}

test("seven gateways that open are one message that names them, and one that it is over", async () => {
  await withRig({}, async (rig, receiver) => {
    for (let index = 1; index <= 9; index++) rig.tell(`envoy-${index}`, "gpu");
    await rig.pass(1_000);
    for (let index = 1; index <= 7; index++) {
      rig.open(`envoy-${index}`, "gpu");
      await rig.pass(500);
    }
    await rig.pass(60_000);
    assert.deepEqual(receiver.told, ["open firing gpu"]);
    const { body } = receiver.received[0] ?? {};
    assert.deepEqual(body.figures, {
      calls: 20,
      failureRate: 50,
      consecutiveFailures: 3,
      openings: 1,
      waitMs: 5000,
    });
    assert.deepEqual([body.cause, body.gateways, body.dedupKey], ["FAILURE_RATE", 9, "llm-breaker/gpu/open"]);
    assert.deepEqual(
      body.away.map(({ node }: { node: string }) => node),
      ["envoy-1", "envoy-2", "envoy-3", "envoy-4", "envoy-5"],
    );
    assert.equal(
      body.text,
      "gpu opened on 5 of 9 gateways (envoy-1, envoy-2, envoy-3, envoy-4, envoy-5): FAILURE_RATE, 50 % of 20 calls failed, 3 in a row; opening 1 in a row, next probe in 5 s",
    );
    for (let index = 2; index <= 7; index++) rig.tell(`envoy-${index}`, "gpu");
    rig.tell("envoy-1", "gpu", { state: "HALF_OPEN", stage: 1 });
    await rig.pass(5_000);
    assert.equal(receiver.told.length, 1, "it is not over while one is half-open");
    rig.tell("envoy-1", "gpu");
    await rig.pass(500);
    assert.deepEqual(receiver.told, ["open firing gpu", "open resolved gpu"]);
    const end = receiver.received[1]?.body;
    assert.deepEqual([end.dedupKey, end.ending], ["llm-breaker/gpu/open", "recovered"]);
    assert.match(end.text, /^gpu is Closed again, after 1 min \d+ s$/);
    assert.equal(Date.parse(end.at), WALL_MS + rig.now);
  });
});

test("a backend that stays away is told of once more, by its time, whether half-open in between or not", async () => {
  await withRig({ events: ["longOpen"], longOpenAfter: "10m" }, async (rig, receiver) => {
    rig.open("envoy-1", "gpu");
    await rig.pass(300_000);
    rig.tell("envoy-1", "gpu", { state: "HALF_OPEN" });
    await rig.pass(10_000);
    rig.open("envoy-1", "gpu");
    await rig.pass(289_000);
    assert.deepEqual(receiver.told, []);
    await rig.pass(1_500);
    assert.deepEqual(receiver.told, ["longOpen firing gpu"]);
    assert.match(
      receiver.received[0]?.body.text,
      /^gpu has been away for 10 min on 1 of 1 gateways \(envoy-1\)/,
    );
    rig.tell("envoy-1", "gpu");
    await rig.pass(500);
    assert.deepEqual(receiver.told, ["longOpen firing gpu", "longOpen resolved gpu"]);
  });
});

test("flapping is to open again and again, not to fail probes", async () => {
  const settings = { events: ["flapping"], flapping: { openings: 3, within: "15m" } };
  await withRig(settings, async (rig, receiver) => {
    for (let probe = 0; probe < 5; probe++) {
      rig.open("envoy-1", "gpu");
      await rig.pass(5_000);
      rig.tell("envoy-1", "gpu", { state: "HALF_OPEN" });
      await rig.pass(1_000);
    }
    for (let opening = 2; opening <= 4; opening++) {
      assert.deepEqual(receiver.told, []);
      if (opening === 4) break;
      rig.tell("envoy-1", "gpu");
      await rig.pass(10_000);
      rig.open("envoy-1", "gpu");
      await rig.pass(opening === 3 ? 0 : 5_000);
    }
    await rig.pass(500);
    assert.deepEqual(receiver.told, ["flapping firing gpu"]);
    assert.match(receiver.received[0]?.body.text, /^gpu is flapping: 3 openings within 15 min: FAILURE_RATE/);
    rig.tell("envoy-1", "gpu");
    await rig.pass(600_000);
    assert.equal(receiver.told.length, 1);
    await rig.pass(300_000);
    assert.deepEqual(receiver.told, ["flapping firing gpu", "flapping resolved gpu"]);
  });
});

test("an opening that was over between two looks is told of all the same", async () => {
  await withRig({}, async (rig, receiver) => {
    rig.tell("envoy-1", "gpu");
    await rig.pass(1_000);
    rig.open("envoy-1", "gpu");
    rig.tell("envoy-1", "gpu");
    await rig.pass(500);
    assert.deepEqual(receiver.told, ["open firing gpu", "open resolved gpu"]);
  });
});

test("nobody is called for what an operator did, or for a policy that only looks on", async () => {
  await withRig({}, async (rig, receiver) => {
    rig.tell("envoy-1", "gpu", { mode: "forcedOpen" });
    rig.open("envoy-1", "trial");
    rig.tell("envoy-1", "trial", { state: "OPEN", mode: "shadow", policyMode: "shadow" });
    await rig.pass(10_000);
    assert.deepEqual(receiver.told, []);
    rig.open("envoy-1", "gpu");
    await rig.pass(3_000);
    rig.tell("envoy-1", "gpu", { state: "OPEN", mode: "forcedOpen" });
    await rig.pass(3_000);
    assert.deepEqual(receiver.told, ["open firing gpu", "open resolved gpu"]);
    assert.equal(receiver.received[1]?.body.ending, "operator");
  });
});

test("a gateway that is silent does not make its backend well", async () => {
  await withRig({ events: ["open"] }, async (rig, receiver) => {
    rig.open("envoy-1", "gpu");
    await rig.pass(3_000);
    rig.gateways.clear();
    await rig.pass(890_000);
    assert.deepEqual(receiver.told, ["open firing gpu"]);
    await rig.pass(20_000);
    assert.equal(receiver.received[1]?.body.ending, "gone");
  });
});

test("a reload tells nothing twice, and a webhook that is new hears of what is on", async () => {
  const other = new Receiver();
  after(() => other.close());
  const otherUrl = await other.listen();
  await withRig({}, async (rig, receiver) => {
    const { url } = receiver;
    rig.open("envoy-1", "gpu");
    await rig.pass(3_000);
    rig.apply([
      { url: otherUrl, events: ["open"], template: "slack" },
      { url, timeout: "1s" },
    ]);
    await rig.pass(3_000);
    assert.deepEqual(receiver.told, ["open firing gpu"]);
    assert.deepEqual(Object.keys(other.received[0]?.body), ["text"]);
    assert.match(other.received[0]?.body.text, /^gpu opened on 1 of 1 gateways/);
    rig.apply([{ url, timeout: "1s" }]);
    rig.tell("envoy-1", "gpu");
    await rig.pass(500);
    assert.deepEqual(receiver.told, ["open firing gpu", "open resolved gpu"]);
    assert.equal(other.received.length, 1);
  });
});

const view = (state: GatewayView["state"]): GatewayView => ({
  process: "p-b",
  state,
  stage: 0,
  track: 0,
  isEvidence: true,
  isSilent: false,
  hasTraffic: true,
  livePermits: 0,
});

const member = (id: string, ...gateways: GatewayView[]): OtherMember => ({
  id,
  name: `host-${id}`,
  backends: new Map([["gpu", { view: { weight: 1, gateways } }]]),
});

test("of a group one member tells, what happens at others too", async () => {
  await withRig({}, async (rig, receiver) => {
    rig.tell("envoy-1", "gpu");
    rig.others = [member("b/1", view("OPEN"))];
    await rig.pass(5_000);
    assert.deepEqual(receiver.told, ["open firing gpu"]);
    assert.deepEqual(receiver.received[0]?.body.away, [{ node: "host-b/1", process: "p-b", state: "OPEN" }]);
    assert.equal(receiver.received[0]?.body.gateways, 2);
    rig.others = [member("A/1"), member("b/1")];
    await rig.pass(20_000);
    assert.deepEqual(receiver.told, ["open firing gpu"], "the end is for the first one to tell");
  });
});

test("what was left to a member that turns out to be gone is told by the next", async () => {
  await withRig({}, async (rig, receiver) => {
    rig.tell("envoy-1", "gpu");
    rig.others = [member("A/1"), member("b/1", view("OPEN"))];
    await rig.pass(4_000);
    assert.deepEqual(receiver.told, []);
    rig.others = [member("b/1", view("OPEN"))];
    await rig.pass(500);
    assert.deepEqual(receiver.told, ["open firing gpu"]);
    rig.others = [member("A/2"), member("b/1")];
    await rig.pass(11_000);
    rig.others = [];
    await rig.pass(5_000);
    assert.deepEqual(receiver.told, ["open firing gpu"], "the other one had its time");
  });
});

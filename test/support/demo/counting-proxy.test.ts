import assert from "node:assert/strict";
import { Agent } from "node:http";
import { after, before, describe, test } from "node:test";
import { type Fleet, startFleet } from "../../../demo/fleet/fleet.js";
import { estimatePromptTokens } from "../../../demo/fleet/prompt.js";
import { demoBackends } from "../../../demo/fleet/settings.js";
import { type CallRecord, sendCall } from "../../../demo/load/caller.js";
import { type CountingProxy, startCountingProxy } from "../../../demo/real/counting-proxy.js";

const QUICK = {
  firstTokenMs: 1,
  prefillMsPerToken: 0,
  tokenGapMs: 0,
  jitter: 0,
  answerTokens: [8, 8],
} as const;

describe("the counting proxy before the real server", () => {
  let fleet: Fleet;
  let proxy: CountingProxy;

  before(async () => {
    const backends = demoBackends([0, 0, 0]).map((backend) => ({ ...backend, pace: QUICK }));
    fleet = await startFleet({ backends, adminPort: 0 });
    const serverPort = fleet.backend("gpu").port;
    proxy = await startCountingProxy({
      name: "gpu",
      port: 0,
      serverPort,
      countPromptTokens: estimatePromptTokens,
    });
  });
  after(async () => {
    await proxy.stop();
    await fleet.stop();
  });

  function call(streamed: boolean, agent = new Agent()): Promise<CallRecord> {
    const messages = [{ role: "user", content: "tell me more" }];
    const body = JSON.stringify({ messages, max_tokens: 4, stream: streamed, user: "call-9" });
    const shape = { id: "call-9", path: "/v1/chat/completions", streamed, long: false, credential: "none" };
    return sendCall({ port: proxy.port, agent, patienceMs: 5000 }, { ...shape, body });
  }

  test("passes answers through, streamed and not, and describes what arrived", async () => {
    assert.equal((await call(true)).verdict, "ok");
    assert.equal((await call(false)).verdict, "ok");
    assert.equal(proxy.arrivals.total, 2);
    const [first] = proxy.arrivals.list();
    assert.deepEqual(
      [first?.user, first?.streamed, first?.promptTokens, first?.maxTokens, first?.outcome],
      ["call-9", true, 3, 4, "complete"],
    );
  });

  test("an error's status and body are passed on and filed as an error", async () => {
    fleet.backend("gpu").beginFault({ kind: "cudaOutOfMemory", recoveryMs: 0, recovery: "engineDead" });
    assert.equal((await call(true)).verdict, "jsonError");
    assert.equal(proxy.arrivals.list().at(-1)?.outcome, "error");
    fleet.backend("gpu").endFault();
  });

  test("a stream that the server cuts is cut for the caller", async () => {
    fleet.backend("gpu").beginFault({ kind: "cutStream", afterEvents: 2, how: "rst" });
    assert.equal((await call(true)).verdict, "brokenStream");
    assert.equal(proxy.arrivals.list().at(-1)?.outcome, "cut");
    fleet.backend("gpu").endFault();
  });

  test("while down it refuses new connections, and counts and cuts what comes on live ones", async () => {
    const live = new Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await call(false, live)).verdict, "ok");
    const before = proxy.arrivals.total;
    await proxy.setDown(true);
    const refused = await call(false);
    assert.match(refused.detail, /ECONNREFUSED/);
    assert.equal(proxy.arrivals.total, before);
    assert.equal((await call(false, live)).verdict, "bareFailure");
    assert.equal(proxy.arrivals.total, before + 1);
    await proxy.setDown(false);
    assert.equal((await call(false)).verdict, "ok");
    live.destroy();
  });
});

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Receiver, WALL_MS, WebhookRig } from "../support/webhooks.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-webhook-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "0123456789abcdef0123456789abcdef";

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function withReceiver(check: (rig: WebhookRig, receiver: Receiver) => Promise<void>): Promise<void> {
  const receiver = new Receiver();
  const rig = new WebhookRig();
  try {
    await receiver.listen();
    await check(rig, receiver);
  } finally {
    rig.webhooks.close();
    receiver.close();
  }
}

test("a message is signed as Standard Webhooks say, anew with each try", async () => {
  await withReceiver(async (rig, receiver) => {
    const bytes = Buffer.from(SECRET);
    for (const line of [`whsec_${bytes.toString("base64")}\n`, `${SECRET}\n`]) {
      const headersFile = file("headers", "# for the proxy\nAuthorization: Bearer tok3n\n\nX-Team: gpu\n");
      rig.apply([]);
      rig.apply([{ url: receiver.url, secretFile: file("secret", line), headersFile }]);
      receiver.status(503, 204);
      rig.open("envoy-1", "gpu");
      await rig.pass(6_000);
      const [first, second] = receiver.received.splice(0);
      assert.ok(first && second);
      assert.equal(first.headers["webhook-id"], second.headers["webhook-id"]);
      assert.equal(first.body.id, first.headers["webhook-id"]);
      assert.equal(first.headers.authorization, "Bearer tok3n");
      assert.equal(first.headers["x-team"], "gpu");
      for (const { headers, text } of [first, second]) {
        const seconds = headers["webhook-timestamp"];
        assert.ok(Math.abs(Number(seconds) - (WALL_MS + rig.now) / 1000) < 8);
        const signed = createHmac("sha256", bytes).update(`${headers["webhook-id"]}.${seconds}.${text}`);
        assert.equal(headers["webhook-signature"], `v1,${signed.digest("base64")}`);
      }
      assert.notEqual(first.headers["webhook-timestamp"], second.headers["webhook-timestamp"]);
    }
    const lines = rig.lines.join("\n");
    assert.match(lines, /webhook can't be reached/);
    for (const secret of [SECRET, "secret-path", "tok3n"]) assert.ok(!lines.includes(secret), secret);
  });
});

test("tries go on, ever further apart, and end after 15 minutes", async () => {
  await withReceiver(async (rig, receiver) => {
    rig.apply([{ url: receiver.url, events: ["open"], sendResolved: false }]);
    receiver.status(500);
    rig.open("envoy-1", "gpu");
    await rig.pass(2_000);
    const startedAtMs = rig.now;
    const atSeconds: number[] = [];
    receiver.answer = (response) => {
      atSeconds.push((rig.now - startedAtMs) / 1000);
      response.writeHead(500).end();
    };
    await rig.pass(1_000_000);
    assert.deepEqual(
      atSeconds.slice(0, 9),
      [0, 1, 3, 7, 15, 31, 63, 123, 183].map((each) => each + (atSeconds[0] ?? 0)),
    );
    assert.ok((atSeconds.at(-1) ?? 0) < 901);
    assert.equal(rig.counts().expired, 1);
    assert.equal(rig.counts().failed, receiver.received.length);
    assert.match(rig.lines.at(-1) ?? "", /given up: it is too old/);
    receiver.status(204);
    rig.tell("envoy-1", "gpu");
    await rig.pass(1_000);
    rig.open("envoy-1", "gpu");
    await rig.pass(120_000);
    assert.equal(rig.counts().delivered, 1);
    assert.match(rig.lines.at(-1) ?? "", /takes messages again/);
  });
});

test("a Retry-After is honoured, as seconds and as a date", async () => {
  for (const given of [() => "30", (rig: WebhookRig) => new Date(WALL_MS + rig.now + 30_000).toUTCString()]) {
    await withReceiver(async (rig, receiver) => {
      rig.apply([{ url: receiver.url }]);
      receiver.answer = (response) => response.writeHead(429, { "retry-after": given(rig) }).end();
      rig.open("envoy-1", "gpu");
      await rig.pass(3_000);
      assert.equal(receiver.received.length, 1);
      receiver.status(200);
      await rig.pass(26_000);
      assert.equal(receiver.received.length, 1);
      await rig.pass(4_500);
      assert.equal(receiver.received.length, 2);
    });
  }
});

test("what the receiver refuses, a redirect too, is not tried again", async () => {
  await withReceiver(async (rig, receiver) => {
    rig.apply([{ url: receiver.url, sendResolved: false }]);
    const elsewhere = new Receiver();
    after(() => elsewhere.close());
    const location = await elsewhere.listen();
    for (const code of [400, 307, 301]) {
      receiver.answer = (response) => response.writeHead(code, { location }).end();
      rig.open("envoy-1", `b${code}`);
      await rig.pass(20_000);
      assert.match(rig.lines.at(-1) ?? "", new RegExp(`"problem":"status ${code}"`));
    }
    assert.equal(receiver.received.length, 3);
    assert.equal(elsewhere.received.length, 0);
    assert.deepEqual(rig.counts(), { refused: 3 });
  });
});

test("a receiver that is slow or away holds up nothing; the oldest of more than 256 messages goes", async () => {
  await withReceiver(async (rig, receiver) => {
    const slow = new Receiver();
    slow.answer = () => {};
    after(() => slow.close());
    await slow.listen();
    const gone = "http://127.0.0.1:9/hook";
    rig.apply([
      { url: slow.url, events: ["open"], timeout: "100ms" },
      { url: gone, events: ["open"] },
      { url: receiver.url, events: ["open"], sendResolved: false },
    ]);
    for (let index = 0; index < 300; index++) rig.open("envoy-1", `b${index}`);
    await rig.pass(3_000);
    assert.equal(receiver.received.length, 256);
    assert.ok(slow.received.length >= 1);
    const byResult = new Map<string, number>();
    for (const { webhook, result, count } of rig.webhooks.deliveries())
      byResult.set(`${webhook === "127.0.0.1:9" ? "gone" : "other"} ${result}`, count);
    assert.equal(byResult.get("gone dropped"), 44);
  });
});

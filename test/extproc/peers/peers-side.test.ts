import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pino } from "pino";
import { readKeys } from "../../../extproc/peers/keys.js";
import { PeersSide } from "../../../extproc/peers/peers-side.js";
import { startService } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { freePort } from "../../support/ports.js";
import { waitFor } from "../../support/wait-for.js";
import { KEY, OTHER_KEY, Talk } from "../support/peers.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-peers-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const keyFile = join(folder, "peers.key");
writeFileSync(keyFile, `${KEY}\n`);

const peersOf = (gossip: Record<string, unknown>) => parseConfig({ peers: { keyFile, gossip } }).peers;

for (const [peers, message] of [
  [{ keyFile }, "peers must have either gossip or redis"],
  [{ keyFile, gossip: {}, redis: { url: "redis://a" } }, "peers.gossip must have members or srv"],
  [{ gossip: { members: ["a:1"] } }, "peers.keyFile must be a text, got nothing"],
  [{ keyFile, gossip: { members: ["nonsense"] } }, "peers.gossip.members[0] must be host:port"],
  [{ keyFile, redis: { url: "http://a" } }, "peers.redis.url must be a URL like redis://host:port"],
] as const) {
  test(`settings that are no good are told: ${message}`, () => {
    assert.throws(() => parseConfig({ peers }), new RegExp(message.replaceAll(/[[\].]/g, "\\$&")));
  });
}

test("a key file that is no file is told, and not waited for", () => {
  assert.throws(
    () => readKeys("/dev/null"),
    /peers\.keyFile must be a file that can be read: it is no regular file/,
  );
});

test("a reload opens, reopens for another key, goes back when the new port is taken, and closes", async () => {
  const talk = new Talk("text");
  const lines: string[] = [];
  const side = new PeersSide(talk, pino({}, { write: (line: string) => lines.push(line) }));
  const listen = `127.0.0.1:${await freePort()}`;
  const members = [listen];
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  try {
    await side.apply(peersOf({ listen, members }));
    const first = side.peers;
    assert.ok(first);
    await side.apply(peersOf({ listen, members }));
    assert.equal(side.peers, first, "the same settings change nothing");
    writeFileSync(keyFile, `${OTHER_KEY}\n${KEY}\n`);
    await side.apply(peersOf({ listen, members }));
    const second = side.peers;
    assert.ok(second && second !== first);
    assert.equal(lines.filter((line) => /"keys":2,.*other keys are in use/.test(line)).length, 1);
    await assert.rejects(side.apply(peersOf({ listen: `127.0.0.1:${port}`, members })), {
      name: "ListenError",
    });
    const restored = side.peers;
    assert.ok(restored && restored !== second);
    const { sent } = restored.counts;
    talk.say("soon");
    await waitFor(() => restored.counts.sent > sent, 500, "a message");
    await side.apply(undefined);
    assert.equal(side.peers, undefined);
  } finally {
    await side.close();
    taken.close();
  }
});

test("two services find each other, and their pages tell so", async () => {
  const ports = [await freePort(), await freePort()];
  const members = ports.map((port) => `127.0.0.1:${port}`);
  const services = await Promise.all(
    members.map((listen, at) =>
      startService(
        parseConfig({
          listen: { grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "off" },
          log: { level: "silent" },
          tokens: { preload: [] },
          peers: { name: `service ${at}`, keyFile, gossip: { listen, members } },
        }),
      ),
    ),
  );
  try {
    for (const { httpAddress } of services) {
      const page = async () => (await fetch(`http://${httpAddress}/metrics`)).text();
      await waitFor(
        async () => (await page()).includes('peers_live{engine="gossip"} 1'),
        10_000,
        "the other",
      );
      assert.match(await page(), /peers_reachable\{engine="gossip"\} 1/);
      assert.match(await page(), /peers_messages_total\{engine="gossip",result="received"\} [1-9]/);
    }
  } finally {
    await Promise.all(services.map((service) => service.close()));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "ioredis";
import { freePort } from "../../support/ports.js";
import { RunningRedis } from "../../support/redis.js";
import { waitFor } from "../../support/wait-for.js";
import { type Member, openMember } from "../support/peers.js";

const HEAR_MS = 10_000;

function open(port: number, name: string): Promise<Member> {
  return openMember(name, { redis: { url: `redis://127.0.0.1:${port}`, channel: "group" } });
}

const messagesOf = ({ lines }: Member) =>
  lines.map(({ msg }) => String(msg)).filter((msg) => msg.includes("Redis"));

test("members talk by a Redis that comes late, hangs, dies and comes back, and only say so", async () => {
  const port = await freePort();
  const members = await Promise.all([open(port, "one"), open(port, "two"), open(port, "three")]);
  const [one, two, three] = members as [Member, Member, Member];
  let redis: RunningRedis | undefined;
  try {
    await waitFor(() => members.every((member) => messagesOf(member).length === 1), HEAR_MS, "its absence");
    assert.equal(one.peers.reachable, undefined);
    redis = await RunningRedis.start(port);
    await waitFor(() => one.talk.hears("two") && one.talk.hears("three"), HEAR_MS, "the others");
    await waitFor(() => one.peers.reachable === 2, HEAR_MS, "two others");
    const saidMs = performance.now();
    one.talk.say("news");
    await waitFor(() => two.talk.hears("news") && three.talk.hears("news"), HEAR_MS, "the news");
    assert.ok((two.talk.heard.find(({ text }) => text === "news")?.atMs ?? 0) - saidMs < 150);

    redis.signal("SIGSTOP");
    await waitFor(() => messagesOf(one).length === 3, HEAR_MS, "a Redis that hangs");
    one.talk.say("said while it hangs");
    redis.signal("SIGCONT");
    await waitFor(() => two.talk.hears("said while it hangs"), HEAR_MS, "the last word");

    redis.signal("SIGKILL");
    await redis.child.exited;
    await waitFor(() => one.peers.reachable === undefined, HEAR_MS, "a Redis that is gone");
    redis = await RunningRedis.start(port);
    two.talk.say("back");
    await waitFor(() => one.talk.hears("back") && three.talk.hears("back"), HEAR_MS, "the return");
    const told = messagesOf(one);
    assert.ok(told.length <= 8, told.join("\n"));
    told.forEach((line, at) => {
      assert.match(line, at % 2 === 0 ? /is away, gateways go on by themselves$/ : /is there$/);
    });
  } finally {
    await Promise.all(members.map((member) => member.close()));
    await redis?.stop();
  }
});

test("whoever may publish but has no key is not heard, whatever it sends", async () => {
  const redis = await RunningRedis.start();
  const members = await Promise.all([open(redis.port, "one"), open(redis.port, "two")]);
  const [one, two] = members as [Member, Member];
  const stranger = new Redis(redis.url);
  const recorder = new Redis(redis.url);
  try {
    const recorded: Buffer[] = [];
    recorder.on("messageBuffer", (_: Buffer, bytes: Buffer) => recorded.push(bytes));
    await recorder.subscribe("group");
    await waitFor(() => one.talk.hears("two") && two.talk.hears("one"), HEAR_MS, "both");
    await waitFor(() => recorded.length >= 4, HEAR_MS, "recorded messages");
    const { refused, stale } = one.peers.counts;
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from("hello"),
      Buffer.alloc(300_000, 1),
      Buffer.alloc(2000, 1),
    ]) {
      await stranger.publish("group", bytes);
    }
    const replayed = recorded.slice(0, 4);
    for (const bytes of replayed) await stranger.publish("group", bytes);
    await waitFor(() => one.peers.counts.refused === refused + 4, HEAR_MS, "garbage refused");
    await waitFor(() => one.peers.counts.stale > stale, HEAR_MS, "replays dropped");
    assert.deepEqual([...new Set(one.talk.heard.map(({ text }) => text))], ["two"]);

    // A group of the same key and channel that never met them takes none of it for a member.
    await Promise.all(members.map((member) => member.close()));
    const late = await open(redis.port, "late");
    members.push(late);
    await waitFor(() => messagesOf(late).length > 0, HEAR_MS, "the connection");
    const old = recorded.slice(0, 20);
    for (const bytes of old) await stranger.publish("group", bytes);
    await waitFor(() => late.peers.counts.stale > 0 && late.peers.counts.sent > 2, HEAR_MS, "old messages");
    assert.deepEqual(late.talk.heard, []);
  } finally {
    stranger.disconnect();
    recorder.disconnect();
    await Promise.all(members.map((member) => member.close()));
    await redis.stop();
  }
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ControlRig, report, transition } from "../support/control.js";

async function withRig(check: (rig: ControlRig, port: number) => Promise<void>): Promise<void> {
  const rig = new ControlRig();
  try {
    const port = await rig.serve();
    rig.sync([report("gpu")]);
    await check(rig, port);
  } finally {
    rig.close();
  }
}

async function listen(port: number, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const outgoing = request(`http://127.0.0.1:${port}/v1/events`, { headers, agent: false }).end();
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  answer.on("error", () => {});
  return answer.setEncoding("utf8");
}

/** What came until it held `text`. */
function readUntil(answer: IncomingMessage, text: string): Promise<string> {
  let seen = "";
  return new Promise((resolve) => {
    answer.on("data", (piece: string) => {
      seen += piece;
      if (seen.includes(text)) resolve(seen);
    });
  });
}

const closed = (answer: IncomingMessage) => new Promise((resolve) => answer.on("close", resolve));

function open(rig: ControlRig, generation: number): void {
  rig.sync([report("gpu", { generation, transitions: [transition({ generation })] })]);
}

test("tells transitions and operators' words as they come", async () => {
  await withRig(async (rig, port) => {
    const answer = await listen(port);
    assert.equal(answer.headers["content-type"], "text/event-stream");
    const pieces = readUntil(answer, "event: operator");
    open(rig, 2);
    rig.overrides.set("gpu", "forcedOpen", 1000, "ada", "a");
    const text = await pieces;
    const [first, second] = text
      .split("\n\n")
      .filter((event) => event.startsWith("id: "))
      .map((event) => event.split("\n"));
    assert.deepEqual(first?.slice(0, 2), ["id: 1", "event: transition"]);
    const told = JSON.parse(first?.[2]?.slice("data: ".length) ?? "");
    assert.deepEqual(
      [told.backend, told.from, told.to, told.cause],
      ["gpu", "CLOSED", "OPEN", "FAILURE_RATE"],
    );
    assert.deepEqual(second?.slice(0, 1), ["id: 2"]);
    answer.destroy();
  });
});

test("goes on behind the last event that a reader had", async () => {
  await withRig(async (rig, port) => {
    for (const generation of [2, 3, 4]) open(rig, generation);
    const answer = await listen(port, { "last-event-id": "2" });
    const text = await readUntil(answer, "data: ");
    assert.match(text, /id: 3\n/);
    assert.doesNotMatch(text, /id: 2\n/);
    answer.destroy();
    assert.equal((await listen(port, { "last-event-id": "x" })).statusCode, 400);
  });
});

test("who comes from a service before this one gets all that happens here", async () => {
  await withRig(async (rig, port) => {
    const answer = await listen(port, { "last-event-id": "500" });
    const pieces = readUntil(answer, "id: 2\n");
    for (const generation of [2, 3]) open(rig, generation);
    assert.match(await pieces, /id: 1\n/);
    answer.destroy();
  });
});

test("has 32 readers at most, and room again when one leaves", async () => {
  await withRig(async (_, port) => {
    const readers = await Promise.all(Array.from({ length: 32 }, () => listen(port)));
    assert.ok(readers.every(({ statusCode }) => statusCode === 200));
    assert.equal((await listen(port)).statusCode, 503);
    readers[0]?.destroy();
    for (let attempt = 0; ; attempt++) {
      const next = await listen(port);
      if (next.statusCode === 200) break;
      assert.ok(attempt < 50, "a place came free");
      await pause(20);
    }
    for (const reader of readers) reader.destroy();
  });
});

test("who asks for the head alone takes nobody's place", async () => {
  await withRig(async (_, port) => {
    for (let count = 0; count < 40; count++) {
      const outgoing = request(`http://127.0.0.1:${port}/v1/events`, { method: "HEAD", agent: false }).end();
      const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
      assert.equal(answer.statusCode, 405);
      answer.resume();
    }
    const reader = await listen(port);
    assert.equal(reader.statusCode, 200);
    reader.destroy();
  });
});

test("however many events come at once, whoever reads gets all of them", async () => {
  await withRig(async (rig, port) => {
    const reader = await listen(port);
    let text = "";
    reader.on("data", (piece: string) => {
      text += piece;
    });
    const seen = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const count = 900;
    for (let generation = 2; generation < count + 2; generation++) open(rig, generation);
    for (let attempt = 0; seen().length < count; attempt++) {
      assert.ok(attempt < 200 && !reader.destroyed, `${seen().length} came`);
      await pause(10);
    }
    assert.deepEqual(
      seen(),
      Array.from({ length: count }, (_, index) => index + 1),
    );
    reader.destroy();
  });
});

test("drops a reader that reads nothing, and nobody else", async () => {
  await withRig(async (rig, port) => {
    const slow = await listen(port);
    slow.pause();
    const quick = await listen(port);
    const mark = "event: transition";
    let seen = 0;
    let rest = "";
    quick.on("data", (text: string) => {
      const parts = (rest + text).split(mark);
      seen += parts.length - 1;
      // A chunk may end within a mark.
      rest = (parts.at(-1) ?? "").slice(1 - mark.length);
    });
    const dropped = closed(slow);
    const why = "x".repeat(200);
    // The kernel's and Node's own buffers take some megabytes before the reader's queue grows.
    const count = 40_000;
    for (let generation = 2; generation < count; generation++) {
      open(rig, generation);
      if (generation % 100 === 0) await pause(1);
    }
    rig.history.addWord("gpu", { action: "open", who: "ada", why });
    slow.resume();
    await dropped;
    assert.equal(slow.complete, false, "its stream is broken off, not ended");
    for (let attempt = 0; seen < count - 2; attempt++) {
      assert.ok(attempt < 200, `${seen} came`);
      await pause(20);
    }
    quick.destroy();
  });
});

test("ends the streams when the service closes", async () => {
  const rig = new ControlRig();
  const answer = await listen(await rig.serve());
  const ended = closed(answer.resume());
  rig.close();
  await ended;
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EventSplitter, EventTooLarge, type StreamEvent } from "../../../extproc/body/event-stream.js";
import { cut } from "../support/pieces.js";

function eventsIn(stream: string | Buffer, lengths: readonly number[] = [1_000_000]): StreamEvent[] {
  const splitter = new EventSplitter();
  const events = cut(Buffer.from(stream), lengths).flatMap((piece) => [...splitter.push(piece)]);
  const last = splitter.end();
  return last ? [...events, last] : events;
}

test("reads events with any line ends, comments and several lines of data", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const lines = [
      ": comment",
      "",
      "event: a",
      "data: 1",
      "data:2",
      "id: x",
      "",
      "data",
      "",
      "event: b",
      "",
      "data:  3",
    ];
    assert.deepEqual(eventsIn(lines.join(end)), [
      { name: "a", data: "1\n2" },
      { name: "", data: "" },
      { name: "", data: " 3" },
    ]);
  }
  assert.deepEqual(eventsIn(""), []);
});

test("gives the same events wherever the pieces are cut", () => {
  const line = fc.constantFrom("event: é", 'data: {"x":"大🙂"}', "data: ", ": ping", "", "data:1");
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const stream = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(""));
  fc.assert(
    fc.property(stream, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), (text, lengths) => {
      assert.deepEqual(eventsIn(text, lengths), eventsIn(text));
    }),
  );
});

test("holds 64 KiB of one event, and no more", () => {
  const line = `data: ${"x".repeat(65_530)}`;
  assert.equal(eventsIn(`${line}\n\n${line}\n\n`, [1000]).length, 2);
  assert.throws(() => eventsIn(`${line}x\n\n`, [1000]), EventTooLarge);
  assert.throws(() => eventsIn("data: x\n".repeat(10_000), [1000]), EventTooLarge);
});

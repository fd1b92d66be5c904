import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FramingError, frame, HEAD_BYTES, MessageSplitter } from "../../../extproc/grpc/framing.js";

const MAX_BYTES = 1000;

function framed(message: Uint8Array): Buffer {
  return frame(Buffer.concat([Buffer.alloc(HEAD_BYTES), message]));
}

/** The bytes cut at the given places, in order. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

test("finds the same messages however the bytes are cut", () => {
  const messages = fc.array(fc.uint8Array({ maxLength: MAX_BYTES }), { maxLength: 8 });
  fc.assert(
    fc.property(messages, fc.array(fc.nat(), { maxLength: 30 }), (given, places) => {
      const splitter = new MessageSplitter(MAX_BYTES);
      const found: Buffer[] = [];
      for (const piece of cutAt(Buffer.concat(given.map(framed)), places))
        splitter.feed(piece, (message) => found.push(message));
      assert.deepEqual(
        found,
        given.map((message) => Buffer.from(message)),
      );
    }),
  );
});

test("refuses what is too large at its head, and what is compressed", () => {
  const head = Buffer.from([0, 0, 0, 3, 0xe9]);
  assert.throws(() => new MessageSplitter(MAX_BYTES).feed(head, () => {}), { reason: "too large" });
  head[0] = 1;
  assert.throws(() => new MessageSplitter(MAX_BYTES).feed(head, () => {}), { reason: "compressed" });
});

test("takes any bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 30 })), (pieces) => {
      const splitter = new MessageSplitter(MAX_BYTES);
      try {
        for (const piece of pieces)
          splitter.feed(Buffer.from(piece), (message) => assert.ok(message.length <= MAX_BYTES));
      } catch (cause) {
        assert.ok(cause instanceof FramingError);
      }
    }),
  );
});

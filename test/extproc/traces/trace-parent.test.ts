import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readTraceParent } from "../../../extproc/traces/trace-parent.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test("reads what W3C writes, and from a later version what it shares with this one", () => {
  const parent = { traceId: TRACE, spanId: SPAN };
  assert.deepEqual(readTraceParent(`00-${TRACE}-${SPAN}-01`), { ...parent, isSampled: true });
  assert.deepEqual(readTraceParent(`00-${TRACE}-${SPAN}-00`), { ...parent, isSampled: false });
  assert.deepEqual(readTraceParent(`00-${TRACE}-${SPAN}-03`), { ...parent, isSampled: true });
  assert.deepEqual(readTraceParent(`01-${TRACE}-${SPAN}-01-more`), { ...parent, isSampled: true });
});

test("takes nothing else for one", () => {
  const bad = [
    undefined,
    "",
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01 `,
    `00-${TRACE}-${SPAN}-01more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01,00-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01-${"x".repeat(100)}`,
  ];
  for (const text of bad) assert.equal(readTraceParent(text), undefined, text);
});

test("whatever comes, ids are hexadecimal digits of their length or there are none", () => {
  const nearly = fc
    .tuple(fc.constantFrom("00", "01", "ff"), fc.string(), fc.string(), fc.string({ maxLength: 4 }))
    .map((parts) => parts.join("-"));
  fc.assert(
    fc.property(fc.oneof(fc.string(), nearly), (text) => {
      const parent = readTraceParent(text);
      if (parent === undefined) return;
      assert.match(parent.traceId, /^[0-9a-f]{32}$/);
      assert.match(parent.spanId, /^[0-9a-f]{16}$/);
    }),
  );
});

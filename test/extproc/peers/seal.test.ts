import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ConfigError } from "../../../extproc/config/errors.js";
import { parseKeys, readKeys } from "../../../extproc/peers/keys.js";
import { SEAL_BYTES, Seal } from "../../../extproc/peers/seal.js";
import { KEY, OTHER_KEY } from "../support/peers.js";

const seal = new Seal(parseKeys(KEY));

test("what is sealed is opened as it was, and never looks the same", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      const sealed = seal.close(bytes);
      assert.equal(sealed.length, bytes.length + SEAL_BYTES);
      assert.deepEqual(seal.open(sealed), Buffer.from(bytes));
      assert.notDeepEqual(seal.close(bytes), sealed);
    }),
  );
});

test("one changed bit anywhere, a byte too many or one too few is not opened", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(), fc.nat(7), (bytes, place, bit) => {
      const sealed = seal.close(bytes);
      const at = place % sealed.length;
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ (1 << bit);
      assert.equal(seal.open(changed), undefined);
      assert.equal(seal.open(sealed.subarray(0, -1)), undefined);
      assert.equal(seal.open(Buffer.concat([sealed, Buffer.of(0)])), undefined);
    }),
  );
});

test("garbage is not opened and no error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(seal.open(bytes), undefined);
      assert.equal(seal.open(Buffer.concat([Buffer.of(1), bytes])), undefined);
    }),
    { numRuns: 1000 },
  );
});

test("another key opens nothing; of two keys the first one seals and both open", () => {
  const other = new Seal(parseKeys(OTHER_KEY));
  const both = new Seal(parseKeys(`\n${OTHER_KEY}\n  ${KEY}\r\n\n`));
  const text = Buffer.from("text");
  assert.equal(other.open(seal.close(text)), undefined);
  assert.deepEqual(both.open(seal.close(text)), text);
  assert.deepEqual(other.open(both.close(text)), text);
  assert.equal(seal.open(both.close(text)), undefined);
});

test("keys of a file that are no good are told without what is in it", () => {
  const short = "short secret";
  const cases: [string, RegExp][] = [
    [" \n\n", /^EXTPROC config: peers\.keyFile must hold 1 to 4 lines with a secret each, got 0$/],
    [Array(5).fill(KEY).join("\n"), /got 5$/],
    [`${KEY}\n${short}`, /must hold secrets of at least 32 bytes, .* secret 2 is shorter$/],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => parseKeys(text),
      (error: Error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, message);
        return !error.message.includes(short) && !error.message.includes(KEY);
      },
    );
  }
  assert.throws(() => readKeys("/nowhere/peers.key"), {
    name: "ConfigError",
    message: /^EXTPROC config: peers\.keyFile must be a file that can be read: there is no such file$/,
  });
});

// Protobuf and the policy, as the filter reads them.
import assert from "node:assert/strict";
import fc from "fast-check";
import { Reader, WireError } from "../../../extproc/wire/reader.js";
import { encodeResponse } from "../../support/sync-messages.js";
import { POLICIES, POLICY_WORDS } from "../corpus/policies.js";
import { FilterParsers } from "../support/filter-parsers.js";
import type { Random } from "../support/random.js";
import { sizeClass, strictJson } from "../support/told.js";
import type { Session, Target, Told } from "../target.js";

/** What is garbage is given back after so many cases, as a VM does between requests, and after a large one. */
const COLLECT_EVERY = 8;
const LARGE_BYTES = 256;

function withParsers(run: (parsers: FilterParsers, bytes: Buffer, random: Random) => Told): () => Session {
  return () => {
    const parsers = new FilterParsers();
    let cases = 0;
    return {
      run: (bytes, random) => {
        const told = run(parsers, bytes, random);
        if (++cases % COLLECT_EVERY === 0 || bytes.length > LARGE_BYTES) parsers.call.collect?.();
        return told;
      },
      memoryBytes: () => parsers.byteLength,
    };
  };
}

const override = { mode: "FORCED_OPEN", remainingMs: 60_000, version: 7, who: "anna", why: "driver" };
const DIRECTIVES = [
  { name: "gpu", acknowledgedGeneration: 5, override },
  { name: "gpu", signals: { isFresh: true, kvCacheUse: 900, isWhole: true, waiting: 3, isQueueLong: true } },
  { name: "gpu", group: { mayProbeMs: 500, rampShare: 10, live: 3, evidence: 2 } },
  {
    name: "gpu",
    move: { version: 9, expectedGeneration: 2, to: "OPEN", stage: 1, openings: 2, waitMs: 9000 },
  },
  { name: "gpu", summary: { state: "OPEN", openings: 1, waitMs: 4000, isEvidence: true, track: 3 } },
];
const RESPONSES = DIRECTIVES.map((directive) =>
  encodeResponse({ sequence: 3, directives: [directive as never], nextMs: 500 }),
);
/** Without the response's tag and length. */
const BARE = RESPONSES.map((bytes) => Buffer.from(bytes.subarray(4)));

const BROKEN = "broken";

export const filterProto: Target = {
  name: "filter-proto",
  parsers: ["filter/bytes/proto-reader.ts"],
  seeds: [...RESPONSES, ...BARE],
  maxBytes: 400,
  // Each field of two bytes is told in 24, for which there is a megabyte.
  linearBytes: 65_536,
  open: withParsers((parsers, bytes) => {
    const count = parsers.ask("protoFields", bytes);
    const size = count < 0 ? -1 - count : count;
    const room = parsers.room(Math.min(size, 40_000) * 24);
    const fields = Array.from({ length: room.length / 24 }, (_, at) => String(room.readBigUInt64LE(at * 24)));
    const { fields: other, isBroken } = plainFields(bytes);
    // The service takes tags over 32 bits, which nobody writes.
    if (other.includes(BROKEN)) return "";
    assert.equal(count < 0, isBroken, "broken for one and not for the other");
    assert.deepEqual(fields, other, "other fields than the service reads");
    return count < 0 ? "" : `${sizeClass(count)},${fields.slice(0, 6).join()}`;
  }),
};

/** The same by the service's reader. */
function plainFields(bytes: Buffer): { fields: string[]; isBroken: boolean } {
  const reader = new Reader(bytes);
  const fields: string[] = [];
  try {
    while (reader.next()) {
      const { field } = reader;
      reader.skip();
      fields.push(field >= 2 ** 29 ? BROKEN : String(field));
    }
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    return { fields, isBroken: true };
  }
  return { fields, isBroken: false };
}

export const filterDirective: Target = {
  name: "filter-directive",
  parsers: ["filter/sync/heard.ts", "filter/bytes/proto-reader.ts"],
  seeds: BARE,
  maxBytes: 400,
  open: withParsers((parsers, bytes) => {
    const isOne = parsers.ask("directive", bytes);
    if (isOne === 0) return "";
    const room = parsers.room(640);
    // Places within the message differ from case to case.
    const told = Array.from({ length: 160 }, (_, at) => sizeClass(room.readUInt32LE(at * 4)));
    return told.map((value) => Math.min(value, 18)).join("");
  }),
};

const MAX_DEPTH = 32;
const DEEP = "[".repeat(40) + "]".repeat(40);

export const filterPolicyJson: Target = {
  name: "filter-policy-json",
  parsers: ["filter/policy/json.ts"],
  seeds: [...POLICIES, DEEP, ...fc.sample(fc.json({ maxDepth: 4 }), { numRuns: 60, seed: 3 })].map((text) =>
    Buffer.from(text),
  ),
  words: POLICY_WORDS,
  // To see that no key stands twice takes a look at each: a policy is an operator's.
  linearBytes: 0,
  open: withParsers((parsers, bytes) => {
    const written = parsers.ask("policyJson", bytes);
    const json = strictJson(bytes);
    if (written < 0) {
      if (json !== undefined) assert.ok(isOdd(json.value, json.text), "good JSON is refused");
      return "";
    }
    if (json === undefined) {
      assert.ok(!Buffer.from(bytes.toString("utf8")).equals(bytes), "what is no JSON is taken");
      return "";
    }
    // One that is empty may stand in the deepest.
    assert.ok(depthOf(json.value) <= MAX_DEPTH + 1, "what is nested too deeply is taken");
    assert.deepEqual(
      wellFormed(JSON.parse(parsers.room(written).toString("utf8"))),
      wellFormed(json.value),
      "another value",
    );
    return `${sizeClass(written)},${depthOf(json.value)}`;
  }),
};

/** Too deep, or with a key that stands twice. */
function isOdd(value: unknown, text: string): boolean {
  return (
    depthOf(value) > MAX_DEPTH || text.split(":").length - 1 > JSON.stringify(value).split(":").length - 1
  );
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let depth = 0;
  for (const inner of Object.values(value)) depth = Math.max(depth, depthOf(inner));
  return depth + 1;
}

/** Half characters don't survive UTF-8. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string")
    return Buffer.from(value)
      .toString("utf8")
      .replaceAll(/\ufffd+/g, "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map((pair) => pair.map(wellFormed)));
}

export const filterPolicy: Target = {
  name: "filter-policy",
  parsers: [
    "fields",
    "parse-breaker",
    "parse-chain",
    "parse-exhausted",
    "parse-models",
    "parse-outcomes",
    "parse-policy",
    "parse-triggers",
    "model-pattern",
  ].map((name) => `filter/policy/${name}.ts`),
  seeds: POLICIES.map((text) => Buffer.from(text)),
  words: POLICY_WORDS,
  linearBytes: 0,
  open: withParsers((parsers, bytes) => {
    const size = parsers.ask("policyFaults", bytes);
    if (size === 0) {
      assert.ok(strictJson(bytes) !== undefined || !isUtf8(bytes), "what is no JSON is a policy");
      return `good,${sizeClass(bytes.length)}`;
    }
    const text = parsers.room(Math.min(size, 4096)).toString("utf8");
    if (text.startsWith("policy is not JSON")) return "";
    return text
      .replaceAll(/"[^"]*"?|\d+/g, "")
      .split("; ")
      .map((fault) => fault.slice(0, 40))
      .slice(0, 3)
      .join();
  }),
};

function isUtf8(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString("utf8")).equals(bytes);
}

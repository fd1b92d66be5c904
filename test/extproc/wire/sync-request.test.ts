import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { findRepoRoot } from "../../../extproc/root.js";
import type { Mode, State } from "../../../extproc/sync/contract.js";
import { WireError } from "../../../extproc/wire/reader.js";
import { causeNumber, causeOf } from "../../../extproc/wire/sync-names.js";
import { readSyncRequest } from "../../../extproc/wire/sync-request.js";
import { encodeRequest, report, request } from "../support/sync-messages.js";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const int = fc.oneof(fc.constantFrom(0, 1, 127, 128, 0xffff_ffff), fc.nat());
const long = fc.oneof(fc.constantFrom(0, Number.MAX_SAFE_INTEGER), fc.maxSafeNat());
const state = fc.constantFrom<State>("CLOSED", "OPEN", "HALF_OPEN");
const mode = fc.constantFrom<Mode>("enforce", "shadow", "disabled", "forcedOpen", "forcedClosed");
const cause = fc.integer({ min: 0, max: 21 }).map(causeOf);
const figures = {
  calls: int,
  failures: int,
  weightedFailures: int,
  backpressure: int,
  outOfMemory: int,
  firstTokens: int,
  slowCalls: int,
};
const transition = fc.record({
  generation: int,
  from: state,
  to: state,
  stage: int,
  cause,
  openings: int,
  ageMs: long,
  waitMs: long,
  calls: int,
  weightedFailures: int,
  consecutiveFailures: int,
});
const counters = fc.record({
  permitted: long,
  refused: long,
  limited: long,
  shed: long,
  diverted: long,
  success: long,
  failure: long,
  backpressure: long,
  neutral: long,
  late: long,
  canaries: long,
  probes: long,
  opened: long,
});
const override = fc.record({
  mode,
  remainingMs: long,
  version: long,
  isWithdrawn: fc.boolean(),
  who: name,
  why: name,
});
const load = fc.record(
  { kvCacheUse: fc.nat(2000).map((thousandths) => thousandths / 1000), waiting: fc.nat(), ageMs: long },
  { requiredKeys: ["ageMs"] },
);
const latency = fc.record({
  samples: int,
  p50Ms: int,
  p99Ms: int,
  judgedPercentile: int,
  judgedMs: int,
  baselineMs: int,
});
const chain = fc.record({ name, tiers: fc.array(name, { maxLength: 16 }) });
const backend = fc.record(
  {
    name,
    state,
    stage: int,
    generation: int,
    openings: int,
    cause,
    stateAgeMs: long,
    waitRemainingMs: long,
    isEvidence: fc.boolean(),
    track: long,
    mode,
    policyMode: mode,
    override,
    window: fc.record({ ...figures, consecutiveFailures: int }),
    seconds: fc.array(fc.record({ ...figures, ageMs: long }), { maxLength: 10 }),
    transitions: fc.array(transition, { maxLength: 8 }),
    livePermits: int,
    stageCap: int,
    probeLeaseMs: int,
    probeTimeoutMs: int,
    counters,
    load,
    latency,
  },
  { requiredKeys: [] },
);
const requests = fc
  .record({
    process: name,
    node: name,
    policy: name,
    policyHash: name,
    sequence: long,
    asksRestore: fc.boolean(),
    backends: fc.array(backend, { maxLength: 5 }),
    chains: fc.array(chain, { maxLength: 5 }),
  })
  .map(({ backends, ...rest }) =>
    request(
      backends.map((given, index) => report(given.name ?? `b${index}`, given)),
      rest,
    ),
  );

test("reads what the definitions write", () => {
  fc.assert(
    fc.property(requests, (given) => {
      // A clone has prototypes as ours have.
      assert.deepEqual(readSyncRequest(encodeRequest(given)), structuredClone(given));
    }),
    { numRuns: 300 },
  );
});

test("reads any bytes in bounded time, or tells that they are no message", () => {
  const valid = requests.map(encodeRequest);
  const mangled = fc.tuple(valid, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  const cut = fc.tuple(valid, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1)));
  const noise = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(noise, mangled, cut), (bytes) => {
      try {
        const read = readSyncRequest(bytes);
        assert.ok(read.process !== "" && read.backends.length <= 512 && read.chains.length <= 64);
        for (const { name, tiers } of read.chains) assert.ok(name !== "" && tiers.length <= 16);
      } catch (cause) {
        assert.ok(cause instanceof WireError, String(cause));
      }
    }),
    { numRuns: 2000 },
  );
});

test("skips fields of the future, and knows a cause of the future as UNKNOWN", () => {
  const bytes = encodeRequest(request([report("gpu")]));
  // Field 40 as a varint, a fixed64, a text and a fixed32.
  const more = Buffer.from("c00205c1020102030405060708c20203616263c50201020304", "hex");
  assert.deepEqual(readSyncRequest(Buffer.concat([bytes, more])), request([report("gpu")]));
  assert.equal(causeOf(99), "UNKNOWN");
});

test("refuses what is above its bounds, with the reason", () => {
  const chat = { name: "chat", tiers: ["gpu"] };
  const second = { ...report("gpu").window, ageMs: 1 };
  const refused: [string, Buffer, RegExp][] = [
    [
      "513 backends",
      encodeRequest(request(Array(513).fill(report("gpu")))),
      /field 7 .* more than 512 times/,
    ],
    [
      "121 seconds",
      encodeRequest(request([report("gpu", { seconds: Array(121).fill(second) })])),
      /field 15/,
    ],
    ["a long name", encodeRequest(request([report("x".repeat(257))])), /longer than 256 bytes/],
    [
      "65 chains",
      encodeRequest(request([], { chains: Array(65).fill(chat) })),
      /field 8 .* more than 64 times/,
    ],
    [
      "17 tiers",
      encodeRequest(request([], { chains: [{ name: "chat", tiers: Array(17).fill("gpu") }] })),
      /field 2 .* more than 16 times/,
    ],
    [
      "no chain's name",
      encodeRequest(request([], { chains: [{ name: "", tiers: [] }] })),
      /chain has no name/,
    ],
    [
      "a long tier",
      encodeRequest(request([], { chains: [{ name: "chat", tiers: ["x".repeat(257)] }] })),
      /longer than 256 bytes/,
    ],
    ["no process", encodeRequest(request([], { process: "" })), /process is missing/],
    ["no backend's name", encodeRequest(request([report("")])), /no name/],
    ["a state that is none", Buffer.from([0x0a, 1, 0x61, 0x3a, 5, 0x0a, 1, 0x61, 0x10, 3]), /state 3/],
    ["a mode that is none", Buffer.from([0x0a, 1, 0x61, 0x3a, 5, 0x0a, 1, 0x61, 0x58, 5]), /mode 5/],
  ];
  for (const [what, bytes, reason] of refused) {
    assert.throws(
      () => readSyncRequest(bytes),
      (cause: Error) => cause instanceof WireError && reason.test(cause.message),
      what,
    );
  }
  const full = request(Array(512).fill(report("gpu")), { chains: Array(64).fill(chat) });
  const read = readSyncRequest(encodeRequest(full));
  assert.deepEqual([read.backends.length, read.chains.length], [512, 64]);
});

test("numbers causes as the filter does", () => {
  const source = readFileSync(join(findRepoRoot(), "filter", "breaker", "state.ts"), "utf8");
  const body = /export enum Cause \{(.*?)\n\}/s.exec(source)?.[1] ?? "";
  const names = [...body.matchAll(/^ {2}([A-Z_]+),/gm)].map((match) => match[1] ?? "");
  assert.ok(names.length > 20);
  for (const [number, each] of names.entries())
    assert.deepEqual([causeOf(number), causeNumber(each)], [each, number]);
  assert.equal(causeOf(names.length), "UNKNOWN");
  assert.equal(causeNumber("nonsense"), 0);
});

test("a number of more than 64 bits is none, as it is for the filter", () => {
  const sequence = (last: number) => Buffer.from([0x28, ...new Array<number>(9).fill(0xff), last]);
  assert.throws(() => readSyncRequest(sequence(2)), WireError);
  assert.throws(() => readSyncRequest(Buffer.from("128080808080808080803261", "hex")), WireError);
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  decodeRequest,
  decodeResponse,
  encodeResponse,
  type GivenDirective,
} from "../support/sync-messages.js";
import { World } from "./host/world.js";
import { SyncedProcess } from "./synced-process.js";

const u32 = fc.integer({ min: 0, max: 0xffffffff });
const u64 = fc.maxSafeNat();
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields, { requiredKeys: [] });
const mode = fc.constantFrom("ENFORCE", "SHADOW", "DISABLED", "FORCED_OPEN", "FORCED_CLOSED");
const state = fc.constantFrom("CLOSED", "OPEN", "HALF_OPEN");
const text = fc.string({ unit: "binary", maxLength: 40 });

const override = record({
  mode,
  remainingMs: u64,
  version: u64,
  isWithdrawn: fc.boolean(),
  who: text,
  why: text,
});
const signals = record({
  isFresh: fc.boolean(),
  kvCacheUse: u32,
  isWhole: fc.boolean(),
  waiting: u32,
  isQueueLong: fc.boolean(),
});
const group = record({ mayProbeMs: u64, rampShare: u32, live: u32, evidence: u32 });
const move = record({
  version: u64,
  expectedGeneration: fc.integer({ min: 0, max: 4 }),
  to: state,
  stage: u32,
  openings: u32,
  waitMs: u64,
  cause: fc.oneof(fc.integer({ min: 15, max: 22 }), u32),
  isForAll: fc.boolean(),
  isOwn: fc.boolean(),
});
const summary = record({ state, openings: u32, waitMs: u64, isEvidence: fc.boolean(), track: u64 });
const directive = fc.record(
  {
    name: fc.constantFrom("gpu", "gpu", "small", "nobody"),
    acknowledgedGeneration: u32,
    override,
    signals,
    group,
    move,
    summary,
  },
  { requiredKeys: ["name"] },
) as fc.Arbitrary<GivenDirective>;
const directives = fc.array(directive, { maxLength: 5 });

/** A process whose next answer is due, and the number it must have. */
function asking(): { process: SyncedProcess; answer: (bytes: Buffer) => void; sequence: number } {
  const process = new SyncedProcess(new World());
  const call = process.nextCall();
  const { sequence } = decodeRequest(call.body);
  return { process, sequence, answer: (bytes) => process.service.answerBytes(call, bytes) };
}

const dump = ({ shared }: World) => shared.keys.map((key) => `${key}=${shared.peek(key)?.toString("hex")}`);

/** Whatever was heard, the process goes on: it serves, tells, and hears of better things. */
function assertAlive(process: SyncedProcess): void {
  process.worker.send();
  process.tick(1_000);
  process.service.takeCalls();
  process.tick(1_000);
  const call = process.nextCall();
  assert.equal(decodeRequest(call.body).backends.length, 3);
  process.service.answer(call);
}

describe("what a service answers", () => {
  test("is taken in whatever it says, as long as it is a message", () => {
    fc.assert(
      fc.property(directives, maybe(u32), (given, nextMs) => {
        const { process, sequence, answer } = asking();
        answer(encodeResponse({ sequence, directives: given, ...(nextMs !== undefined && { nextMs }) }));
        assertAlive(process);
        const words = given.filter(({ name, override: word }) => name === "gpu" && word !== undefined);
        if (words.length === 1) assertEcho(process, words[0]);
      }),
      { numRuns: 150 },
    );
  });

  test("skips fields that are not known, wherever they stand", () => {
    const unknown = Buffer.from([
      0xf8, 0x7f, 0x05, 0xfa, 0x7f, 0x02, 0x61, 0x62, 0xfd, 0x7f, 1, 2, 3, 4, 0xf9, 0x7f, 1, 2, 3, 4, 5, 6, 7,
      8,
    ]);
    const { process, sequence, answer } = asking();
    const word = { mode: "FORCED_OPEN", remainingMs: 10_000, version: 3 };
    const known = encodeResponse({ sequence, directives: [{ name: "gpu", override: word }] });
    const inside = Buffer.concat([
      encodeResponse({ directives: [{ name: "small", override: word }] }),
      unknown,
    ]);
    // The directive is field 2; one byte of length is enough for it.
    inside[1] = (inside[1] ?? 0) + unknown.length;
    answer(Buffer.concat([unknown, inside, known, unknown]));
    assert.equal(process.servedBy(), "public");
  });

  test("changes nothing when it is cut anywhere, or is any other bytes", () => {
    fc.assert(
      fc.property(directives, fc.nat(), fc.uint8Array({ maxLength: 60 }), (given, at, noise) => {
        const { process, sequence, answer } = asking();
        const whole = encodeResponse({ sequence, directives: given });
        const cut = whole.subarray(0, at % whole.length);
        const bytes = Buffer.concat([cut, noise]);
        const before = dump(process.world);
        answer(bytes);
        if (!isMessage(bytes)) assert.deepEqual(dump(process.world), before);
        assertAlive(process);
      }),
      { numRuns: 200 },
    );
  });

  test("changes nothing unless its number is the request's", () => {
    fc.assert(
      fc.property(directives, fc.integer({ min: 1, max: 1 << 30 }), (given, off) => {
        const { process, sequence, answer } = asking();
        const before = dump(process.world);
        answer(encodeResponse({ sequence: sequence + off, directives: given }));
        assert.deepEqual(dump(process.world), before);
      }),
      { numRuns: 50 },
    );
  });

  test("is no message with a length that lies, a group, or an endless number", () => {
    for (const bytes of [
      [0x12, 0x7f],
      [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
      [0x13, 0x08, 0x01, 0x14],
      [0x08, ...Array.from({ length: 11 }, () => 0xff)],
      [0x00, 0x01],
      [0x12, 0x02, 0x1a, 0x05],
    ]) {
      const { process, sequence, answer } = asking();
      const before = dump(process.world);
      answer(Buffer.concat([encodeResponse({ sequence }), Buffer.from(bytes)]));
      assert.deepEqual(dump(process.world), before, bytes.join(" "));
    }
  });

  test("is heard up to its 512th directive: a hundred thousand would keep a worker's requests waiting", () => {
    const override = { mode: "FORCED_OPEN", remainingMs: 60_000, version: 1 };
    for (const [before, heard] of [
      [511, true],
      [512, false],
    ] as const) {
      const { process, sequence, answer } = asking();
      const plain = Array.from({ length: before }, () => ({ name: "small" }));
      const strangers = Array.from({ length: 600 }, () => ({ name: "nobody" }));
      answer(encodeResponse({ sequence, directives: [...strangers, ...plain, { name: "gpu", override }] }));
      assert.equal(process.servedBy() === "small", heard);
    }
  });

  test("leaves a process alone whose shared data hold other bytes", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom("directive/gpu", "sync/test", "service", "leader/test"),
        (bytes, key) => {
          const { process } = asking();
          process.world.shared.set(`llm.breaker/${key}`, Buffer.from(bytes), 0);
          process.world.clock.advance(3_000);
          process.tick();
          process.tick(1_000);
          assertAlive(process);
        },
      ),
      { numRuns: 100 },
    );
  });
});

function isMessage(bytes: Buffer): boolean {
  try {
    decodeResponse(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The word that holds is told back as it came. */
function assertEcho(process: SyncedProcess, given: GivenDirective | undefined): void {
  const word = given?.override;
  if (!word?.version || (word.remainingMs ?? 0) < 60_000) return;
  const echo = process.service.report("gpu").override;
  assert.ok(echo);
  assert.equal(echo.version, word.version);
  assert.equal(echo.mode, word.mode ?? "ENFORCE");
  assert.equal(echo.isWithdrawn, word.isWithdrawn ?? false);
  assert.equal(echo.why, word.why ?? "");
  assert.equal(echo.who, word.who ?? "");
}

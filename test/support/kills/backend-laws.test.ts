import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Trial } from "../../fleet/scenario.js";
import type { Transition } from "../../fleet/transitions.js";
import { judgeBackend, type Seen } from "../../kills/backend-laws.js";
import type { Strike } from "../../kills/strikes.js";

/** gpu is stopped from 1,000 to 7,000, Open from 4,000 and Half-open from 6,500. */
const stop: Strike = { act: "stop", victim: "gpu", atMs: 1_000, doneMs: 1_000, endMs: 7_000 };
const transitions = [
  moved("CLOSED", "CLOSED", "STARTED", 0),
  moved("CLOSED", "OPEN", "CONSECUTIVE_FAILURES", 4_000),
  moved("OPEN", "HALF_OPEN", "WAIT_OVER", 6_500),
];

function moved(from: Transition["from"], to: Transition["to"], cause: string, atMs: number): Transition {
  return { backend: "gpu", from, to, cause, atMs, gateway: 0, generation: 0, openings: 0 };
}

function seen(sentMs: number, atMs: number, more: Partial<Seen> = {}): Seen {
  const endMs = atMs + 100;
  const call = { user: "call", isProbe: false, isStreamed: true, from: "127.0.0.1", letter: "a" } as const;
  return { ...call, isWhole: true, sentMs, atMs, endMs, ...more };
}

/** The laws that are broken. */
function broken(all: readonly Seen[], strikes: readonly Strike[] = [stop]): string[] {
  const trial = new Trial();
  judgeBackend("gpu", all, { strikes, splits: [], transitions: { a: transitions, b: [] } }, trial);
  return trial.checks.filter(({ passed }) => !passed).map(({ check }) => check);
}

const whileOpen = "no request to gpu while it is Open";
const canaries = "at most 2 of canaries of gpu at once";
const three = <T>(one: (at: number) => T): T[] => [0, 1, 2].map(one);

describe("what a backend may see", () => {
  test("what lay in the socket of a stopped process is judged by when it was sent", () => {
    assert.deepEqual(broken([seen(1_500, 7_001), seen(3_900, 7_002), seen(4_200, 7_003)]), []);
  });

  test("a request that is sent while its gateway is Open is seen, whoever is stopped", () => {
    assert.deepEqual(broken([seen(4_600, 7_001)]), [whileOpen]);
    assert.deepEqual(broken([seen(4_400, 4_401)], []), [whileOpen]);
    assert.deepEqual(broken([seen(4_400, 4_401, { isWhole: false })]), [whileOpen]);
  });

  test("canaries beyond the cap are seen, also those that a stopped process reads late", () => {
    assert.deepEqual(broken(three((at) => seen(6_600, 6_601 + at))), [canaries]);
    assert.deepEqual(broken(three((at) => seen(6_600, 7_001 + at))), [canaries]);
    assert.deepEqual(broken(three((at) => seen(6_600, 7_001 + 200 * at))), []);
  });

  test("a canary that was given up before it was read makes room for another, and no other does", () => {
    const late = { ...stop, endMs: 10_000 };
    assert.deepEqual(
      broken(
        three((at) => seen(6_600 + at, 10_001)),
        [late],
      ),
      [],
    );
    const waited = { isStreamed: false };
    assert.deepEqual(
      broken(
        three((at) => seen(6_600 + at, 10_001, waited)),
        [late],
      ),
      [canaries],
    );
    assert.deepEqual(
      broken(
        three((at) => seen(6_600 + at, 10_001)),
        [],
      ),
      [canaries],
    );
  });

  test("a trap of the gateway's VM cuts what it had sent", () => {
    const trap: Strike = { act: "trap", victim: "gate", atMs: 6_700, doneMs: 6_710, endMs: 6_710 };
    assert.deepEqual(
      broken(
        three(() => seen(6_600, 7_001)),
        [stop, trap],
      ),
      [],
    );
    assert.deepEqual(
      broken(
        three(() => seen(6_800, 7_001)),
        [stop, trap],
      ),
      [canaries],
    );
  });

  test("two probes at once are seen", () => {
    const probe = { isProbe: true, user: "" };
    const law = "at most 1 of probes of gpu at once";
    assert.deepEqual(broken([seen(6_600, 7_001, probe), seen(6_700, 7_050, probe)]), [law]);
    assert.deepEqual(broken([seen(6_600, 7_001, probe), seen(6_700, 7_101, probe)]), []);
  });

  test("a request that does not tell when it was sent is seen", () => {
    assert.deepEqual(broken([seen(7_001, 7_001)]), ["requests to gpu tell when they were sent"]);
  });
});

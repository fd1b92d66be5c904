import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { waitFor } from "../support/wait-for.js";
import { BackendUnderTest, withBackends } from "./support/extra-backends.js";
import { CLOSED, type Rig, startRig } from "./support/rig.js";

const waitMs = 300;
const brief = {
  consecutiveFailuresThreshold: 2,
  waitDurationInOpenState: `${waitMs}ms`,
  ramp: [{ percent: 100, maxConcurrent: 1, successes: 1 }],
};
let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 1,
    ...withBackends({
      later: { breaker: { ...brief, backoffResetAfter: "1500ms" } },
      "at-once": { breaker: { ...brief, backoffResetAfter: "0s" } },
    }),
  });
});

after(() => rig?.stop());

/** Opens the backend, lets it close again, and returns what its wait was. */
async function waitOfOpening(backend: BackendUnderTest): Promise<number> {
  const openings = () => backend.transitions().filter(({ to }) => to === "OPEN");
  const before = openings().length;
  rig.gpu.mode = { kind: "status", status: 500 };
  await backend.chats(2);
  rig.reset();
  const isClosed = async (): Promise<boolean> =>
    (await backend.answers()) && (await backend.state()) === CLOSED;
  await waitFor(isClosed, 10_000, `${backend.alias} closed`);
  const opened = openings().slice(before);
  assert.equal(opened.length, 1);
  return opened[0]?.waitMs ?? 0;
}

/** The n-th wait in a row, with its jitter of up to a fifth. */
function isWait(ms: number, n: number): boolean {
  const least = waitMs * 2 ** (n - 1);
  return ms >= least && ms <= least * 1.2;
}

test("the wait doubles until the backend stayed closed for backoffResetAfter", async () => {
  const backend = new BackendUnderTest(rig, "later");
  const waits = [await waitOfOpening(backend), await waitOfOpening(backend)];
  await sleep(1_600);
  waits.push(await waitOfOpening(backend));
  const [first = 0, second = 0, third = 0] = waits;
  assert.ok(isWait(first, 1) && isWait(second, 2) && isWait(third, 1), waits.join(", "));
});

test("with 0s each opening is the first", async () => {
  const backend = new BackendUnderTest(rig, "at-once");
  const waits = [await waitOfOpening(backend), await waitOfOpening(backend)];
  assert.ok(
    waits.every((ms) => isWait(ms, 1)),
    waits.join(", "),
  );
});

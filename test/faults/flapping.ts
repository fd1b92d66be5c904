import { setTimeout as sleep } from "node:timers/promises";
import type { Rig } from "../e2e/support/rig.js";
import type { PolicyJson } from "../e2e/support/shipped-config.js";
import { healthy } from "./answers.js";
import { call, lackOf, type Received } from "./caller.js";
import { attemptsOf, type Commit, type SharedService, startChain } from "./chain.js";
import { type Check, check, commonChecks } from "./checks.js";
import { answererOf, play, type Result } from "./run-fault.js";

const downMs = 60_000;
const everyMs = 4_000;
const firstCanaryMs = 30_000;
/** Watched for a little longer, so that a late canary is told from none. */
const watchedMs = firstCanaryMs + 2 * everyMs;

export const flapping = {
  name: "flapping",
  what: "primary down 60 s, then healthy, under a request every 4 s",
};

/** As the issue has it: without the cap the wait may have grown to 40 s when the primary is back. */
function quickRecovery(policy: PolicyJson): void {
  policy.breaker.maxWaitDurationInOpenState = "10s";
  policy.breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 5 }];
}

export async function runFlapping(commit: Commit, service: SharedService): Promise<Result> {
  const rig = await startChain({ commit, service, policy: quickRecovery });
  const calls: Received[] = [];
  let backMs: number | undefined;
  let canaries: number;
  try {
    backMs = await downAndBack(rig, commit, calls);
    canaries = await rig.counter("gpu", "canaries");
  } finally {
    await rig.stop();
  }
  const attempts = attemptsOf(rig);
  const complete = calls.filter((received) => lackOf(received).length === 0).length;
  return {
    fault: flapping.name,
    what: flapping.what,
    commit,
    callerGot: `${complete} of ${calls.length} complete`,
    attempts,
    seconds: Math.max(...calls.map(({ seconds }) => seconds)),
    answeredBy: answererOf(calls),
    calls,
    checks: [...commonChecks(commit, {}, calls, attempts, undefined), firstCanary(backMs, canaries)],
  };
}

/** Calls in a fixed rhythm until the primary, back after its time, answers one. Returns how long after its return it did. */
async function downAndBack(rig: Rig, commit: Commit, calls: Received[]): Promise<number | undefined> {
  play(rig, { primary: (ask) => healthy("gpu", ask) }, commit);
  const { port } = rig.gpu;
  await rig.gpu.stop();
  const startMs = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let beatMs = 0; beatMs < downMs; beatMs += everyMs) {
    await until(startMs + beatMs);
    pending.push(call(rig.url, true).then((received) => calls.push(received)));
  }
  await until(startMs + downMs);
  await rig.gpu.listen(port);
  const returnedMs = performance.now();
  await Promise.all(pending);
  for (let beatMs = 0; beatMs < watchedMs; beatMs += everyMs) {
    await until(returnedMs + beatMs);
    const received = await call(rig.url, true);
    calls.push(received);
    if (received.answeredBy === "gpu") return performance.now() - returnedMs;
  }
  return undefined;
}

async function until(atMs: number): Promise<void> {
  await sleep(Math.max(0, atMs - performance.now()));
}

function firstCanary(backMs: number | undefined, canaries: number): Check {
  const isSoon = backMs !== undefined && backMs <= firstCanaryMs && canaries > 0;
  const when = backMs === undefined ? "none" : `${(backMs / 1000).toFixed(1)} s after its return`;
  const name = `the primary answers its first canary within ${firstCanaryMs / 1000} s of its return`;
  return check(name, isSoon, `${when}, ${canaries} canaries`);
}

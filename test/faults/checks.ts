import type { Alias } from "../e2e/support/rig.js";
import { promptTokens, tokenCount } from "./answers.js";
import { lackOf, notBroken, type Received } from "./caller.js";
import type { Attempts, Commit } from "./chain.js";
import type { Demands } from "./faults.js";

export interface Check {
  readonly check: string;
  readonly passed: boolean;
  /** What was seen. */
  readonly detail: string;
}

const mostPrimaryAttempts = 6;
/** The model that each tier is asked for, by the caller or by its cluster's metadata. */
const models: Readonly<Record<string, string>> = {
  gpu: "qwen3-32b",
  small: "qwen3-4b",
  public: "gpt-4o-mini",
};

/** The checks that every fault has: what the caller got, and how often the primary was asked for it. */
export function commonChecks(
  commit: Commit,
  demands: Demands,
  calls: readonly Received[],
  attempts: Attempts,
  passedOn: string | undefined,
): Check[] {
  const isBroken = demands.isMidStream && commit === "firstToken";
  const outcomes = calls.map((received) => {
    if (demands.isPassedOn) return untouched(received, passedOn);
    return isBroken ? brokenStream(received) : completeAnswer(received);
  });
  const { gpu } = attempts;
  const isSpared = gpu <= mostPrimaryAttempts;
  return [
    inAll(outcomes),
    check(`the primary gets at most ${mostPrimaryAttempts} user attempts`, isSpared, `${gpu} attempts`),
  ];
}

/** What is demanded of this fault alone. */
export function ownChecks(demands: Demands, calls: readonly Received[], attempts: Attempts): Check[] {
  const checks: Check[] = [];
  for (const received of calls) {
    const by = `by ${received.answeredBy} after ${received.seconds.toFixed(1)} s`;
    if (demands.byPrimarysSecondTry) {
      const isSecond = received.answeredBy === "gpu" && attempts.gpu === 2;
      checks.push(check("answered by the primary's second try", isSecond, `${by}, ${attempts.gpu} attempts`));
    }
    if (demands.byNextTierWithinMs) {
      const limit = demands.byNextTierWithinMs / 1000;
      const isSoon = received.answeredBy === "small" && received.seconds <= limit;
      checks.push(check(`answered by the next tier within ${limit} s`, isSoon, by));
    }
    if (demands.reportsAnsweringTier) checks.push(reportedTier(received));
  }
  return checks;
}

export function check(name: string, passed: boolean, detail: string): Check {
  return { check: name, passed, detail };
}

/** The same check of each call as one, so that their number does not depend on how many calls a run took. */
function inAll(checks: readonly Check[]): Check {
  const bad = checks.filter(({ passed }) => !passed);
  const details = new Set((bad.length > 0 ? bad : checks).map(({ detail }) => detail));
  const count = checks.length > 1 ? `${bad.length || checks.length} of ${checks.length}: ` : "";
  const name = checks[0]?.check ?? "the caller has called";
  return check(name, checks.length > 0 && bad.length === 0, `${count}${[...details].join("; ")}`);
}

function completeAnswer(received: Received): Check {
  const lack = lackOf(received);
  return check("the caller has the complete answer", lack.length === 0, lack.join(", ") || "complete");
}

function brokenStream(received: Received): Check {
  const wrong = notBroken(received);
  const detail = wrong.join(", ") || `broken: ${received.brokenBy}`;
  return check("the caller has a clearly broken stream, no clean half", wrong.length === 0, detail);
}

function untouched(received: Received, sent: string | undefined): Check {
  const isSame = received.status === 400 && received.body === sent && !received.brokenBy;
  const detail = isSame ? "byte for byte" : `status ${received.status}: ${received.body.slice(0, 200)}`;
  return check("the primary's reason is passed on untouched", isSame, detail);
}

/** The caller can tell from the answer itself which model served and what it used. */
function reportedTier(received: Received): Check {
  const tier = received.answeredBy as Alias;
  const isModel = received.models.length === 1 && received.models[0] === models[tier];
  const { usage } = received;
  const isUsage = usage?.prompt_tokens === promptTokens[tier] && usage?.completion_tokens === tokenCount;
  const isOther = tier !== "gpu" && tier !== undefined;
  const detail = `${tier}: model ${received.models.join(", ")}, usage ${JSON.stringify(usage)}`;
  return check("the answering tier's model and usage are reported", isOther && isModel && isUsage, detail);
}

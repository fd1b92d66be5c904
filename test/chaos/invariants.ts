// What must hold for every caller, whatever the fault.
import type { Answer } from "../support/client.js";
import { limits, type Plan } from "./plan.js";
import { type Got, verdictOf } from "./verdict.js";

export interface Call {
  readonly caller: number;
  readonly answer: Answer;
  /** How often each tier got this caller's request. */
  readonly visits: readonly number[];
}

/** The invariants that this call breaks, in words. */
export function brokenBy(call: Call, plan: Plan): string[] {
  const { answer, visits } = call;
  const got = verdictOf(answer, plan.combination.streamed, plan.scripts);
  const broken = [answerFault(got, plan), waitFault(call, plan), ...visitFaults(visits, plan)];
  const told = broken.filter((what) => what !== undefined).map((what) => `caller ${call.caller}: ${what}`);
  return told.length === 0 ? [] : [...told, `caller ${call.caller} got ${shown(call)}`];
}

function shown({ answer, visits }: Call): string {
  const { status, complete, text, totalMs } = answer;
  const end = complete ? "whole" : "broken";
  const said = JSON.stringify(text.slice(0, 120));
  return `${status} ${said}, ${end}, after ${Math.round(totalMs)} ms; tiers asked: ${visits.join(", ")}`;
}

function answerFault(got: Got, plan: Plan): string | undefined {
  switch (got) {
    case "whole":
    case "own":
      return undefined;
    case "left":
      return plan.habit.leaveAfterMs || plan.habit.leaveAfterBytes ? undefined : "left though told to stay";
    case "broken":
      return plan.isSeen || !plan.isHealthyTierLeft
        ? undefined
        : "a broken answer while a healthy tier was left";
    case "told":
      return plan.isSeen || !plan.isHealthyTierLeft
        ? undefined
        : "a told fault while a healthy tier was left";
    case "error":
      return plan.isHealthyTierLeft ? "a bare failure while a healthy tier was left" : undefined;
    case "bare error":
      return "an error that is empty or no JSON";
    case "clean half":
      return "an answer that ended cleanly and was not whole";
    case "nothing":
      return "no answer at all";
    case "endless wait":
      return "a wait beyond every limit";
  }
}

// Mutation: filter/meter/timers.ts, isStalled -> "return false": silence/after-tokens and others fail.
function waitFault({ answer, visits }: Call, plan: Plan): string | undefined {
  // A tier that refuses connections sees no visit, though each costs an attempt.
  const seen = plan.combination.fault.isDead
    ? limits.maxAttempts
    : visits.reduce((sum, count) => sum + count, 0);
  const boundMs = plan.boundMs(Math.max(1, seen));
  if (answer.totalMs <= boundMs) return undefined;
  return `waited ${Math.round(answer.totalMs)} ms; ${seen} attempts allow ${Math.round(boundMs)} ms`;
}

// Mutation: filter/meter/next-tier.ts, without "request.visited |=": more than half of all combinations fail.
function visitFaults(visits: readonly number[], plan: Plan): string[] {
  const faults: string[] = [];
  visits.forEach((count, tier) => {
    const allowed = plan.visitsAllowed(tier);
    if (count > allowed) faults.push(`tier ${tier} was asked ${count} times, ${allowed} allowed`);
  });
  const total = visits.reduce((sum, count) => sum + count, 0);
  const extra = visits.reduce((sum, count) => sum + Math.max(0, count - 1), 0);
  if (total > limits.maxAttempts) faults.push(`${total} attempts, ${limits.maxAttempts} allowed`);
  if (extra > plan.extraVisitsAllowed)
    faults.push(`${extra} second tries, ${plan.extraVisitsAllowed} allowed`);
  return faults;
}

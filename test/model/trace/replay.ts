import { phaseName, readDiagram, way } from "../diagram.js";
import type { Settings } from "../policy.js";
import { Cause, Mode, Outcome, State } from "../record/names.js";
import { apply } from "../reference/breaker.js";
import type { Operation } from "../reference/operation.js";
import { stageOf } from "../reference/outcomes.js";
import { freshReference, type Reference } from "../reference/state.js";
import type { TracedTransition } from "./trace.js";

const orders = { mode: Mode.enforce, rampShare: -1, isHeld: false };
const states = new Map<string, number>([
  ["CLOSED", State.closed],
  ["OPEN", State.open],
  ["HALF_OPEN", State.halfOpen],
]);
const owner = 1;
/** A tick looks for what is due each 250 ms; the rest is a busy machine's. */
const dueWithinMs = 3_000;

/** What the model has to be told to make a transition of this cause; undefined: it knows of no such. */
function told(model: Reference, cause: string, settings: Settings): readonly Operation[] | undefined {
  const { generation } = model;
  const end = (outcome: number, permit = 0): Operation => {
    return { kind: "outcome", generation, permit, outcome, retryAfterMs: 0 };
  };
  const canary = (outcome: number, index: number): Operation[] => {
    return [{ kind: "canary", isIdle: false }, end(outcome, model.lastPermit + index + 1)];
  };
  switch (cause) {
    case "CONSECUTIVE_FAILURES":
      return Array.from({ length: settings.streak }, () => end(Outcome.failure));
    case "WAIT_OVER":
      return [{ kind: "takeProbe", owner }];
    case "PROBE_FAILED":
      return [{ kind: "probeVerdict", owner, isWell: false }];
    case "PROBE_SUCCEEDED":
      return [{ kind: "probeVerdict", owner, isWell: true }];
    case "CANARY_FAILED":
      return canary(Outcome.failure, 0);
    case "STAGE_PASSED":
    case "RAMP_COMPLETE":
      return Array.from({ length: stageOf(model, settings).successes }, (_, index) =>
        canary(Outcome.success, index),
      ).flat();
    default:
      return undefined;
  }
}

/** What in a record of transitions the model would not have done, or not then. */
export function faultsOfTransitions(transitions: readonly TracedTransition[], settings: Settings): string[] {
  const faults: string[] = [];
  const ways = readDiagram();
  let model = freshReference(transitions[0]?.atMs ?? 0);
  for (const seen of transitions) {
    const context = `generation ${seen.generation}, ${seen.cause}`;
    const step = way(phaseOf(seen.from, model.stage), phaseOf(seen.to, seen.stage), seen.cause);
    if (!ways.has(step)) faults.push(`${context}: no such way as ${step}`);
    const lateMs = seen.atMs - model.openUntilMs[1];
    if (model.state === State.open && lateMs > dueWithinMs) faults.push(`${context}: ${lateMs} ms late`);
    const operations = told(model, seen.cause, settings) ?? [];
    for (const operation of operations)
      model = apply(model, { operation, orders, nowMs: seen.atMs }, settings).next;
    const difference = differenceOf(model, seen);
    if (difference) return [...faults, `${context}: ${difference}`];
    const openUntilMs = [seen.atMs + seen.waitMs, seen.atMs + seen.waitMs] as const;
    if (model.state === State.open) model = { ...model, openUntilMs };
  }
  return faults;
}

function phaseOf(state: string, stage: number): string {
  return phaseName(states.get(state) ?? -1, stage);
}

function differenceOf(model: Reference, seen: TracedTransition): string | undefined {
  const cause = Object.entries(Cause).find(([, value]) => value === model.cause)?.[0] ?? "";
  const expected = {
    state: model.state,
    stage: model.stage,
    generation: model.generation,
    openings: model.openings,
    sinceMs: model.sinceMs,
    cause: cause.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
  };
  const actual = {
    state: states.get(seen.to),
    stage: seen.stage,
    generation: seen.generation,
    openings: seen.openings,
    sinceMs: seen.atMs,
    cause: seen.cause,
  };
  const [earliest, latest] = model.openUntilMs;
  const untilMs = seen.atMs + seen.waitMs;
  const isOutside = model.state === State.open && (untilMs < earliest || untilMs > latest);
  if (isOutside)
    return `a wait of ${seen.waitMs} ms, expected ${earliest - seen.atMs} to ${latest - seen.atMs}`;
  const wrong = (Object.keys(expected) as (keyof typeof expected)[]).find(
    (key) => expected[key] !== actual[key],
  );
  return wrong && `${wrong} is ${actual[wrong]}, the model's ${expected[wrong]}`;
}

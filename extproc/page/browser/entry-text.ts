import type { EntryView } from "../../control/schemas.js";
import { causeText } from "./causes.js";
import { counted, decimal, duration, remaining } from "./format.js";
import { STANDING_NAMES, type Standing } from "./standing.js";

type Transition = Extract<EntryView, { kind: "transition" }>;
type Word = Extract<EntryView, { kind: "operator" }>;

const DEEDS: Readonly<Record<Word["action"], string>> = {
  open: "forced open",
  close: "forced closed",
  disable: "disabled",
  reset: "reset",
  withdraw: "override withdrawn",
  learned: "override learned",
  ended: "override ended",
};

/** What the state became, as its badge would say it. */
export function standingAfter({ to, stage }: Pick<Transition, "to" | "stage">): Standing {
  if (to === "HALF_OPEN") return stage === 0 ? "probing" : "ramp";
  return to === "OPEN" ? "open" : "closed";
}

export function stateAfter(entry: Transition): string {
  const standing = standingAfter(entry);
  return STANDING_NAMES[standing] + (standing === "ramp" ? ` · stage ${entry.stage}` : "");
}

/** The numbers that caused a transition. */
export function numbersOf(entry: Transition): string {
  const { to, calls, weightedFailures, failureRate, consecutiveFailures, waitMs, openings } = entry;
  const share = failureRate > 0 ? ` (${decimal(failureRate)} %)` : "";
  const parts: string[] = [];
  if (calls > 0) parts.push(`${decimal(weightedFailures)} of ${counted(calls, "call")} failed${share}`);
  if (consecutiveFailures > 1) parts.push(`${consecutiveFailures} in a row`);
  if (to === "OPEN" && openings > 1) parts.push(`opened ${openings} times in a row`);
  if (to === "OPEN" && waitMs > 0) parts.push(`waits ${remaining(waitMs)}`);
  return parts.join(", ");
}

export function deedOf({ action, forMs }: Word): string {
  return DEEDS[action] + (forMs === undefined ? "" : ` for ${duration(forMs)}`);
}

/** One sentence, for who listens. */
export function sayEntry(entry: EntryView): string {
  if (entry.kind === "operator") return `${entry.backend}: ${deedOf(entry)} by ${entry.who}`;
  return `${entry.backend} is ${stateAfter(entry)}: ${causeText(entry.cause).label}`;
}

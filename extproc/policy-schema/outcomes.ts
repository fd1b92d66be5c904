import { z } from "zod";
import { amount, bytes, field } from "./fields.js";

const FAILURES = [
  "status",
  "connect",
  "reset",
  "timeout",
  "stall",
  "cut",
  "error",
  "engineFatal",
  "outOfMemory",
] as const;
const OUTCOMES = ["success", "failure", "engineFatal", "outOfMemory", "backpressure", "neutral"] as const;
const MAX_WEIGHT = 10;
const MAX_BODY_RULES = 8;
const MAX_PATTERN_BYTES = 64;

const STATUS_RULE = 'must be a status from 300 to 599, "4xx" or "5xx"';

const status = z.union(
  [z.int(STATUS_RULE).min(300, STATUS_RULE).max(599, STATUS_RULE), z.enum(["4xx", "5xx"])],
  STATUS_RULE,
);

/** Each key of `names`, all with the same kind of value. */
export function each<Name extends string, Schema extends z.ZodType>(names: readonly Name[], schema: Schema) {
  const fields = Object.fromEntries(names.map((name) => [name, schema.optional()]));
  return z.strictObject(fields as Record<Name, z.ZodOptional<Schema>>);
}

const statuses = each(OUTCOMES, z.array(status, "must be a list")).superRefine((given, { addIssue }) => {
  const owners = new Map<number, string>();
  for (const outcome of OUTCOMES)
    for (const [index, item] of (given[outcome] ?? []).entries()) {
      const other = statusesOf(item).find((each) => (owners.get(each) ?? outcome) !== outcome);
      if (other !== undefined)
        addIssue({ code: "custom", path: [outcome, index], message: `is in ${owners.get(other)} already` });
      for (const one of statusesOf(item)) owners.set(one, outcome);
    }
});

function statusesOf(item: number | "4xx" | "5xx"): number[] {
  if (typeof item === "number") return [item];
  return Array.from({ length: 100 }, (_, index) => Number(item[0]) * 100 + index);
}

const bodyRule = z.strictObject({
  pattern: bytes(1, MAX_PATTERN_BYTES),
  outcome: z.enum(OUTCOMES),
});

/** What counts as what. */
export const outcomeFields = {
  weights: field(
    each(FAILURES, amount(MAX_WEIGHT)),
    "How heavily a failure counts in the rate: `{status, connect, reset, timeout, stall, cut, error, engineFatal, outOfMemory}`. At 0 it is a call, and no failure.",
    { shown: "all 1", bounds: "0–10", isWhole: true },
  ),
  outcomes: field(
    statuses,
    "`{success, failure, engineFatal, outOfMemory, backpressure, neutral}`: lists of statuses that count as that, over the table below. A backend's own `outcomes` stand in place of the shared `outcomes`.",
    { shown: "see below", bounds: "300–599, `4xx`, `5xx`", isWhole: true },
  ),
  bodyRules: field(
    z.array(bodyRule, "must be a list").max(MAX_BODY_RULES, "must have at most 8 rules"),
    "`[{pattern, outcome}]`: a text of at most 64 bytes in the first 4 KiB of an answer's body decides its outcome, before everything else; of several the first in the list. Callers can make a model say it: choose texts they can't.",
    { shown: "none", bounds: "≤ 8", isWhole: true },
  ),
};

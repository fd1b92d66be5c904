import { parseText } from "../body/json.js";
import { QUOTE } from "../body/json-bytes.js";
import { applyEdits, type Edit } from "../body/splice.js";
import { scanTopLevel } from "../body/top-level.js";
import { capOutput, nameOutputField } from "./output-cap.js";
import { BodyPlan } from "./plan.js";
import { removeFields } from "./removal.js";
import type { RewriteRules } from "./rules.js";
import { includeUsage } from "./usage-option.js";

const BYTE_ORDER_MARK = Buffer.from("\ufeff");
/** No request has a hundred; three million, which 16 MiB can hold, would take the event loop two seconds. */
const MAX_MEMBERS = 4096;

/**
 * `body` as its backend wants it: only the bytes of what the rules name are others. The very same buffer when nothing
 * had to change; undefined when it is no JSON object. `path` is without its query.
 */
export function rewriteBody(body: Buffer, rules: RewriteRules, path: string): Buffer | undefined {
  const start = lengthOfMark(body);
  const json = body.subarray(start);
  const top = scanTopLevel(json, MAX_MEMBERS);
  if (top === undefined) return undefined;
  const edits = planEdits(new BodyPlan(json, top), rules, path);
  if (edits.length === 0) return body;
  return applyEdits(
    body,
    edits.map((edit) => ({ ...edit, start: edit.start + start, end: edit.end + start })),
  );
}

/** Names are given last, so that every other rule can use the ones that callers know. */
function planEdits(plan: BodyPlan, rules: RewriteRules, path: string): Edit[] {
  nameModel(plan, rules);
  removeFields(plan, rules);
  includeUsage(plan, rules);
  capOutput(plan, rules, path);
  nameOutputField(plan, rules);
  for (const [from, to] of rules.rename) plan.rename(from, to);
  return plan.edits();
}

/**
 * Only a string is replaced: a body without a model is not ours to complete. Every duplicate is, since servers differ
 * in which one they take. `Model` is another key and stays, although servers written in Go read it: routes that go by the
 * model refuse such a body.
 */
function nameModel(plan: BodyPlan, rules: RewriteRules): void {
  if (rules.model === undefined) return;
  const bytes = Buffer.from(JSON.stringify(rules.model));
  for (const planned of plan.named("model")) {
    const value = plan.valueOf(planned);
    if (value[0] === QUOTE && !value.equals(bytes)) planned.newValue = bytes;
  }
}

/** Longer than any model's name, and what the gate takes for one. It stands in each event of an answer. UTF-8 bytes. */
const MAX_NAME_BYTES = 128;

/** The model's name as its sender gave it; undefined for one that is longer than names are. */
export function modelOf(body: Buffer): string | undefined {
  const json = body.subarray(lengthOfMark(body));
  const member = scanTopLevel(json)?.members.findLast(({ key }) => key === "model");
  const name = member && parseText(json.subarray(member.valueStart, member.valueEnd));
  return name !== undefined && Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : undefined;
}

function lengthOfMark(body: Buffer): number {
  const length = BYTE_ORDER_MARK.length;
  return body.subarray(0, length).equals(BYTE_ORDER_MARK) ? length : 0;
}

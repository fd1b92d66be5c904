import { parseText } from "../body/json.js";
import type { BodyPlan, PlannedMember } from "./plan.js";
import type { RewriteRules } from "./rules.js";

const CHAT = "max_tokens";
const REASONING = "max_completion_tokens";
const RESPONSES = "max_output_tokens";
const CAP_KEYS: readonly string[] = [CHAT, REASONING, RESPONSES];

/** OpenAI's reasoning models refuse `max_tokens` (error `unsupported_parameter`). */
const NEEDS_COMPLETION_CAP = /^(?:o\d|gpt-5)/;

/** Of a number's spelling, what is looked at. */
const MAX_NUMBER_BYTES = 64;

type Ask = "absent" | "null" | "within" | "above" | "other";

/** Lowers what is asked above the cap, and adds the cap where nothing is asked. All duplicates of a key are lowered. */
export function capOutput(plan: BodyPlan, rules: RewriteRules, path: string): void {
  const cap = rules.maxOutputTokens;
  if (cap === undefined) return;
  const asks = CAP_KEYS.map((key) => readAsk(plan, plan.last(key), cap));
  if (asks.every((ask) => ask === "absent")) {
    addCap(plan, rules, cap, path);
    return;
  }
  // A null beside a number of another name says nothing; alone it asks for no limit.
  const isLimited = asks.some((ask) => ask === "within" || ask === "above");
  for (const planned of CAP_KEYS.flatMap((key) => [...plan.named(key)])) {
    const ask = readAsk(plan, planned, cap);
    if (ask === "above" || (ask === "null" && !isLimited)) planned.newValue = Buffer.from(String(cap));
  }
}

/** Other endpoints (embeddings, rerank) know no such key and strict servers refuse it. */
function addCap(plan: BodyPlan, rules: RewriteRules, cap: number, path: string): void {
  const key = nameOfCap(plan, rules, path);
  if (key !== undefined && !rules.remove.has(key)) plan.add(key, String(cap));
}

function nameOfCap(plan: BodyPlan, rules: RewriteRules, path: string): string | undefined {
  if (plan.has("messages")) {
    if (rules.outputTokensField !== undefined) return rules.outputTokensField;
    return rules.model !== undefined && NEEDS_COMPLETION_CAP.test(rules.model) ? REASONING : CHAT;
  }
  if (plan.has("prompt")) return CHAT;
  return path.endsWith("/responses") && plan.has("input") ? RESPONSES : undefined;
}

/** The backend knows the chat's limit by one name only. Legacy completions have but the one. */
export function nameOutputField(plan: BodyPlan, rules: RewriteRules): void {
  const wanted = rules.outputTokensField;
  if (wanted === undefined || (wanted === REASONING && !plan.has("messages"))) return;
  const other = wanted === CHAT ? REASONING : CHAT;
  const present = plan.last(wanted);
  // The name that the backend knows says nothing: the other one is meant.
  if (present && isNull(plan, present) && plan.has(other)) plan.remove(wanted);
  plan.rename(other, wanted);
}

function isNull(plan: BodyPlan, planned: PlannedMember): boolean {
  return planned.newValue === undefined && plan.valueOf(planned).equals(Buffer.from("null"));
}

/** Below zero is llama.cpp's "no limit". */
function readAsk(plan: BodyPlan, planned: PlannedMember | undefined, cap: number): Ask {
  if (planned === undefined) return "absent";
  const bytes = plan.valueOf(planned);
  const text = bytes.toString("utf8", 0, MAX_NUMBER_BYTES);
  if (text === "null") return "null";
  const value = text.startsWith('"') ? quotedNumber(bytes) : Number(text);
  if (Number.isNaN(value)) return "other";
  return value < 0 || value > cap ? "above" : "within";
}

/**
 * vLLM's request model takes "4096" for 4096, and "4_096", " 4096" or "\u0034096" as well. A text with digits that can't be
 * read here may be read there: then it is as much as can be. NaN without digits.
 */
function quotedNumber(bytes: Buffer): number {
  if (bytes.length > MAX_NUMBER_BYTES) return Number.POSITIVE_INFINITY;
  const text = (parseText(bytes) ?? "").replaceAll("_", "");
  const value = Number(text);
  return Number.isNaN(value) && /\p{Nd}/u.test(text) ? Number.POSITIVE_INFINITY : value;
}

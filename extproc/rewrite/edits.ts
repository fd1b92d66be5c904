import type { Edit } from "../body/splice.js";
import { type Member, scanTopLevel, type TopLevel } from "../body/top-level.js";
import type { RewriteRules } from "./rules.js";

const CAP_KEYS = ["max_completion_tokens", "max_tokens"] as const;

/** OpenAI's reasoning models refuse `max_tokens` (error `unsupported_parameter`). */
const NEEDS_COMPLETION_CAP = /^(?:o\d|gpt-5)/;

type Ask = "absent" | "unlimited" | "within" | "above" | "other";

/**
 * The edits that turn `body` into what the backend wants; none when it is no JSON object or already fits.
 * All occurrences of a duplicate key are edited, since servers differ in which one they take.
 */
export function planEdits(body: Buffer, rules: RewriteRules): Edit[] {
  const top = scanTopLevel(body);
  if (top === undefined) return [];
  const edits: Edit[] = [];
  if (rules.model !== undefined) edits.push(...renameModel(body, top, rules.model));
  if (rules.maxOutputTokens !== undefined)
    edits.push(...capOutput(body, top, rules.maxOutputTokens, rules.model));
  return edits;
}

/** Only a string is replaced: a body without a model is not ours to complete. */
function renameModel(body: Buffer, top: TopLevel, model: string): Edit[] {
  const bytes = Buffer.from(JSON.stringify(model), "utf8");
  return top.members
    .filter((member) => member.key === "model" && body[member.valueStart] === 0x22)
    .filter((member) => !body.subarray(member.valueStart, member.valueEnd).equals(bytes))
    .map((member) => replace(member, bytes));
}

function capOutput(body: Buffer, top: TopLevel, cap: number, model: string | undefined): Edit[] {
  const bytes = Buffer.from(String(cap), "latin1");
  const asks = CAP_KEYS.map((key) => ({ key, ask: lastAsk(body, top, key, cap) }));
  if (asks.every(({ ask }) => ask === "absent")) return addCap(top, cap, model);
  // An explicit null beside a real number of the other name is no unlimited ask.
  const isLimited = asks.some(({ ask }) => ask === "within" || ask === "above");
  return top.members
    .filter((member) => {
      if (!CAP_KEYS.some((key) => key === member.key)) return false;
      const ask = readAsk(body, member, cap);
      return ask === "above" || (ask === "unlimited" && !isLimited);
    })
    .map((member) => replace(member, bytes));
}

/** Other endpoints (embeddings, rerank) know no such key and strict servers refuse it. */
function addCap(top: TopLevel, cap: number, model: string | undefined): Edit[] {
  const last = top.members.at(-1);
  if (last === undefined || !top.members.some(({ key }) => key === "messages" || key === "prompt")) return [];
  const key =
    model !== undefined && NEEDS_COMPLETION_CAP.test(model) ? "max_completion_tokens" : "max_tokens";
  return [{ start: last.valueEnd, end: last.valueEnd, bytes: Buffer.from(`,"${key}":${cap}`, "latin1") }];
}

function lastAsk(body: Buffer, top: TopLevel, key: string, cap: number): Ask {
  const member = top.members.findLast((candidate) => candidate.key === key);
  return member === undefined ? "absent" : readAsk(body, member, cap);
}

/** A number in quotes counts too: vLLM's request model takes "4096" for 4096. Below zero is llama.cpp's "no limit". */
function readAsk(body: Buffer, member: Member, cap: number): Ask {
  const text = body.toString("utf8", member.valueStart, Math.min(member.valueEnd, member.valueStart + 64));
  if (text === "null") return "unlimited";
  const value = Number(text.replace(/^"(.+)"$/, "$1"));
  if (Number.isNaN(value)) return "other";
  if (value < 0) return "unlimited";
  return value > cap ? "above" : "within";
}

function replace(member: Member, bytes: Buffer): Edit {
  return { start: member.valueStart, end: member.valueEnd, bytes };
}

import { isRecord, type JsonRecord, parseObject } from "../../body/json.js";
import { RawJson } from "../raw-json.js";
import { Untranslatable } from "../untranslatable.js";

interface ToolUse extends JsonRecord {
  readonly name: string;
}

/** The calls of one answer in the history, as blocks of Messages; the older `function_call` too. @throws Untranslatable */
export function toolUsesOf({ tool_calls: calls, function_call: legacy }: JsonRecord): ToolUse[] {
  const uses = (Array.isArray(calls) ? calls : []).map((call) => {
    if (!isRecord(call) || !isRecord(call.function))
      throw new Untranslatable("a tool call without a function");
    return toolUse(call.id, call.function);
  });
  // It had no id: its result names the function.
  return isRecord(legacy) ? [...uses, toolUse(legacy.name, legacy)] : uses;
}

/** Other servers' ids may hold what Anthropic refuses. */
export function toToolId(id: unknown): string {
  if (typeof id !== "string" || id === "") throw new Untranslatable("a tool call without an id");
  return id.replace(/[^a-zA-Z0-9_-]/g, "_");
}

function toolUse(id: unknown, { name, arguments: text }: JsonRecord): ToolUse {
  if (typeof name !== "string") throw new Untranslatable("a tool call without a name");
  return { type: "tool_use", id: toToolId(id), name, input: inputOf(text) };
}

/** The arguments are a text that holds an object, written by a model: now and then it is none. */
function inputOf(text: unknown): RawJson | JsonRecord {
  if (typeof text !== "string" || text.trim() === "") return {};
  return parseObject(Buffer.from(text)) === undefined ? { arguments: text } : new RawJson(text);
}

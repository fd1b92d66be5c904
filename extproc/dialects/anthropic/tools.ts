import { isRecord, type JsonRecord, parseText } from "../../body/json.js";
import { OPEN_BRACE } from "../../body/json-bytes.js";
import { RawJson, rawElements, rawMember } from "../raw-json.js";

const ANY_INPUT = { type: "object" };

/**
 * `tools` and `tool_choice` of Messages, out of a chat's (the older `functions` too). Tools that are no functions belong
 * to OpenAI's servers and are left out.
 */
export function toolsFor(chat: JsonRecord, body: Buffer, namesInHistory: ReadonlySet<string>): JsonRecord {
  const tools = [...functionsIn(body), ...legacyFunctionsIn(body)];
  if (tools.length > 0) return { tools, tool_choice: choiceFor(chat) };
  if (namesInHistory.size === 0) return {};
  // A history with tool calls is refused without their tools; they are named, and not to be used.
  const named = [...namesInHistory].map((name) => ({ name, input_schema: ANY_INPUT }));
  return { tools: named, tool_choice: { type: "none" } };
}

function functionsIn(body: Buffer): JsonRecord[] {
  return rawElements(rawMember(body, "tools")).flatMap((tool) => {
    const type = rawMember(tool, "type");
    return type === undefined || type.equals(Buffer.from('"function"'))
      ? toolOf(rawMember(tool, "function"))
      : [];
  });
}

function legacyFunctionsIn(body: Buffer): JsonRecord[] {
  return rawElements(rawMember(body, "functions")).flatMap(toolOf);
}

/** The schema is passed on as it is written: limits beyond 2^53 are common in generated ones. */
function toolOf(definition: Buffer | undefined): JsonRecord[] {
  const name = textIn(definition, "name");
  if (name === undefined) return [];
  const parameters = rawMember(definition, "parameters");
  const isSchema = parameters !== undefined && parameters[0] === OPEN_BRACE;
  return [
    {
      name,
      description: textIn(definition, "description"),
      input_schema: isSchema ? new RawJson(parameters.toString("utf8")) : ANY_INPUT,
    },
  ];
}

function textIn(object: Buffer | undefined, key: string): string | undefined {
  const raw = rawMember(object, key);
  return raw && parseText(raw);
}

function choiceFor(chat: JsonRecord): JsonRecord | undefined {
  const choice = typeOf(chat.tool_choice ?? chat.function_call);
  if (chat.parallel_tool_calls !== false || choice?.type === "none") return choice;
  return { ...(choice ?? { type: "auto" }), disable_parallel_tool_use: true };
}

function typeOf(choice: unknown): JsonRecord | undefined {
  if (choice === "auto") return { type: "auto" };
  if (choice === "required") return { type: "any" };
  if (choice === "none") return { type: "none" };
  if (!isRecord(choice)) return undefined;
  const named = isRecord(choice.function) ? choice.function.name : choice.name;
  return typeof named === "string" ? { type: "tool", name: named } : undefined;
}

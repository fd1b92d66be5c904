import { type JsonRecord, parseObject } from "../body/json.js";
import type { CompleteAnswer, Finish } from "./answer.js";
import type { Ask } from "./ask.js";
import { event } from "./sse.js";

const STOP_REASONS: Record<Finish, string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/** Anthropic Messages: a `message`, or its events up to `message_stop`. Thoughts are left out: they need a signature. */
export function writeMessages(answer: CompleteAnswer, ask: Ask, id: string): string {
  const usage = { input_tokens: answer.promptTokens, output_tokens: answer.completionTokens };
  const stop = { stop_reason: STOP_REASONS[answer.finish], stop_sequence: null };
  const head = { id: `msg_${id}`, type: "message", role: "assistant", model: answer.model };
  const blocks = blocksOf(answer);
  if (!ask.stream)
    return JSON.stringify({ ...head, content: blocks.map(({ whole }) => whole), ...stop, usage });
  const named = (data: Readonly<Record<string, unknown>> & { type: string }) => event(data, data.type);
  const start = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 0 },
  };
  const events = [named({ type: "message_start", message: start })];
  for (const [index, { empty, delta }] of blocks.entries()) {
    events.push(named({ type: "content_block_start", index, content_block: empty }));
    events.push(named({ type: "content_block_delta", index, delta }));
    events.push(named({ type: "content_block_stop", index }));
  }
  events.push(named({ type: "message_delta", delta: stop, usage: { output_tokens: usage.output_tokens } }));
  events.push(named({ type: "message_stop" }));
  return events.join("");
}

/** A content block as a whole, as it begins in a stream, and what then fills it. */
interface Block {
  readonly whole: object;
  readonly empty: object;
  readonly delta: object;
}

function blocksOf(answer: CompleteAnswer): Block[] {
  const blocks: Block[] = [];
  if (answer.text !== "" || answer.toolCalls.length === 0)
    blocks.push({
      whole: { type: "text", text: answer.text },
      empty: { type: "text", text: "" },
      delta: { type: "text_delta", text: answer.text },
    });
  for (const { id, name, arguments: args } of answer.toolCalls)
    blocks.push({
      whole: { type: "tool_use", id, name, input: parseArguments(args) },
      empty: { type: "tool_use", id, name, input: {} },
      delta: { type: "input_json_delta", partial_json: args },
    });
  return blocks;
}

/** Models write what they like there; an input must be an object. */
function parseArguments(text: string): JsonRecord {
  return parseObject(Buffer.from(text)) ?? {};
}

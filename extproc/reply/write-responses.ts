import type { CompleteAnswer } from "./answer.js";
import type { Ask } from "./ask.js";
import { event } from "./sse.js";

type Json = Readonly<Record<string, unknown>>;

/** OpenAI Responses: a `response`, or its events up to `response.completed`. */
export function writeResponses(answer: CompleteAnswer, ask: Ask, id: string, createdSeconds: number): string {
  const items = itemsOf(answer, id);
  const response = responseOf(answer, id, createdSeconds, items);
  if (!ask.stream) return JSON.stringify(response);
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  let sequence = 0;
  const named = (type: string, data: Json) => event({ type, sequence_number: sequence++, ...data }, type);
  const events = [
    named("response.created", { response: begun }),
    named("response.in_progress", { response: begun }),
  ];
  for (const [index, item] of items.entries()) events.push(...itemEvents(named, index, item));
  events.push(named(`response.${response.status}`, { response }));
  return events.join("");
}

function responseOf(answer: CompleteAnswer, id: string, createdSeconds: number, output: readonly Json[]) {
  const isCut = answer.finish === "length" || answer.finish === "content_filter";
  const reason = answer.finish === "length" ? "max_output_tokens" : "content_filter";
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: createdSeconds,
    status: isCut ? "incomplete" : "completed",
    error: null,
    incomplete_details: isCut ? { reason } : null,
    model: answer.model,
    output,
    usage: {
      input_tokens: answer.promptTokens,
      output_tokens: answer.completionTokens,
      total_tokens: answer.promptTokens + answer.completionTokens,
    },
  };
}

function itemsOf(answer: CompleteAnswer, id: string): Json[] {
  const items: Json[] = [];
  if (answer.text !== "" || answer.toolCalls.length === 0)
    items.push({
      type: "message",
      id: `msg_${id}`,
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: answer.text, annotations: [] }],
    });
  for (const [index, call] of answer.toolCalls.entries())
    items.push({
      type: "function_call",
      id: `fc_${id}_${index}`,
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: "completed",
    });
  return items;
}

function itemEvents(named: (type: string, data: Json) => string, index: number, item: Json): string[] {
  const place = { output_index: index, item_id: item.id };
  const begun = { ...item, status: "in_progress" };
  const added = (empty: Json) =>
    named("response.output_item.added", { output_index: index, item: { ...begun, ...empty } });
  const done = () => named("response.output_item.done", { output_index: index, item });
  if (item.type === "function_call") {
    const { arguments: args } = item;
    return [
      added({ arguments: "" }),
      named("response.function_call_arguments.delta", { ...place, delta: args }),
      named("response.function_call_arguments.done", { ...place, arguments: args }),
      done(),
    ];
  }
  const [part] = item.content as { type: string; text: string; annotations: [] }[];
  const inner = { ...place, content_index: 0 };
  return [
    added({ content: [] }),
    named("response.content_part.added", { ...inner, part: { ...part, text: "" } }),
    named("response.output_text.delta", { ...inner, delta: part?.text }),
    named("response.output_text.done", { ...inner, text: part?.text }),
    named("response.content_part.done", { ...inner, part }),
    done(),
  ];
}

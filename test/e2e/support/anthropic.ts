import type { Mode, Write } from "../../support/upstream-mode.js";

/** What a Messages API answers. */

type Data = { readonly type: string } & Readonly<Record<string, unknown>>;

/** As bytes, since writes that are texts are taken for latin1. */
const event = (data: Data): Write => Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);

export const started = event({
  type: "message_start",
  message: { id: "msg_1", type: "message", model: "claude", usage: { input_tokens: 8, output_tokens: 1 } },
});

export const textOpened = event({
  type: "content_block_start",
  index: 0,
  content_block: { type: "text", text: "" },
});

export const text = (content: string): Write =>
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: content } });

export const toolOpened = (index: number, name: string): Write =>
  event({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id: `toolu_${index}`, name, input: {} },
  });

export const toolInput = (index: number, json: string): Write =>
  event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: json } });

export const ended = (reason = "end_turn"): Write[] => [
  event({ type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 4 } }),
  event({ type: "message_stop" }),
];

export const overloaded = event({
  type: "error",
  error: { type: "overloaded_error", message: "Overloaded" },
});

export const stream = (...writes: readonly Write[]): Mode => ({ kind: "chunks", writes });

export const message = (content: readonly object[], stopReason = "end_turn"): Mode => ({
  kind: "status",
  status: 200,
  body: JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content,
    stop_reason: stopReason,
    usage: { input_tokens: 8, cache_read_input_tokens: 2, output_tokens: 4 },
  }),
});

export const refusal = (status: number, type: string, message: string): Mode => ({
  kind: "status",
  status,
  body: JSON.stringify({ type: "error", error: { type, message } }),
});

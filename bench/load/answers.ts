/** The request header that tells the bench's upstream how to answer. It passes through every Envoy alike. */
export const answerHeader = "x-bench-answer";

/** The request header that names the caller's line, for answers that go on when the caller has read so far. */
export const lineHeader = "x-bench-line";

/** What the bench's upstream can do. `hold` sends a first token and is then silent. */
export type AnswerKind = "tiny" | "events" | "hold" | "dead";

/** Events of an `events` answer, `[DONE]` not counted. */
export const eventCount = 50;

const model = "qwen3-32b";
const head = { id: "chatcmpl-1", created: 1_790_000_000, model };

function event(delta: object, finishReason: string | null): Buffer {
  const choice = { index: 0, delta, finish_reason: finishReason };
  const data = JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [choice] });
  return chunk(`data: ${data}\n\n`);
}

/** One chunk of a chunked body. */
export function chunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

function whole(status: string, body: object): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

export const streamHead = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n",
);
const roleEvent = event({ role: "assistant", content: "" }, null);
const tokenEvent = event({ content: " token" }, null);
const lastChunks = Buffer.concat([chunk("data: [DONE]\n\n"), Buffer.from("0\r\n\r\n")]);

const tiny = whole("200 OK", {
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
});

const dead = whole("500 Internal Server Error", {
  error: {
    message: "CUDA error: an illegal memory access was encountered",
    type: "internal_error",
    code: 500,
  },
});

/** The writes that make up one answer, in order. */
export function writesOf(kind: AnswerKind): readonly Buffer[] {
  if (kind === "tiny") return [tiny];
  if (kind === "dead") return [dead];
  if (kind === "hold") return [streamHead, roleEvent, tokenEvent];
  const tokens = Array.from({ length: eventCount - 2 }, () => tokenEvent);
  return [streamHead, roleEvent, ...tokens, event({}, "stop"), lastChunks];
}

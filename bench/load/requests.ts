import { type AnswerKind, answerHeader, lineHeader } from "./answers.js";
import { type StreamShape, shapeHeader } from "./event-stream.js";

/** The bytes that each line of a caller sends. */
export type RequestOfLine = (line: number) => Buffer;

/** A chat request, its prompt `promptBytes` long. */
export function chatRequest(answer: AnswerKind, promptBytes: number, stream: boolean): RequestOfLine {
  return post(`${answerHeader}: ${answer}`, chatBody(promptBytes, stream));
}

/** A chat request that is answered by an event stream of this shape. */
export function streamRequest(shape: StreamShape, promptBytes: number): RequestOfLine {
  return post(`${shapeHeader}: ${JSON.stringify(shape)}`, chatBody(promptBytes, true));
}

/**
 * Without a body. Envoy closes an HTTP/1.1 connection when it answers before it has read the request's body, so a refusal
 * of one with a body would measure a new connection each time, and hide what the refusal costs.
 */
export const emptyRequest: RequestOfLine = post(`${answerHeader}: tiny`, "");

function chatBody(promptBytes: number, stream: boolean): string {
  return JSON.stringify({
    model: "qwen3-32b",
    messages: [{ role: "user", content: "word ".repeat(Math.ceil(promptBytes / 5)).slice(0, promptBytes) }],
    ...(stream && { stream: true }),
  });
}

function post(wish: string, body: string): RequestOfLine {
  return (line) =>
    Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: bench.example.com\r\nauthorization: Bearer sk-bench\r\n` +
        `user-agent: bench\r\naccept: application/json\r\ncontent-type: application/json\r\n` +
        `${wish}\r\n${lineHeader}: ${line}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
}

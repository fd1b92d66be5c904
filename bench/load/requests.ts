import { type AnswerKind, answerHeader, lineHeader } from "./answers.js";

/** The bytes that each line of a caller sends. */
export type RequestOfLine = (line: number) => Buffer;

/** A chat request, its prompt `promptBytes` long. */
export function chatRequest(answer: AnswerKind, promptBytes: number, stream: boolean): RequestOfLine {
  const body = JSON.stringify({
    model: "qwen3-32b",
    messages: [{ role: "user", content: "word ".repeat(Math.ceil(promptBytes / 5)).slice(0, promptBytes) }],
    ...(stream && { stream: true }),
  });
  return post(answer, body);
}

/**
 * Without a body. Envoy closes an HTTP/1.1 connection when it answers before it has read the request's body, so a refusal
 * of one with a body would measure a new connection each time, and hide what the refusal costs.
 */
export const emptyRequest: RequestOfLine = post("tiny", "");

function post(answer: AnswerKind, body: string): RequestOfLine {
  return (line) =>
    Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: bench.example.com\r\nauthorization: Bearer sk-bench\r\n` +
        `user-agent: bench\r\naccept: application/json\r\ncontent-type: application/json\r\n` +
        `${answerHeader}: ${answer}\r\n${lineHeader}: ${line}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
}

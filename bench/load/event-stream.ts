import { chunk, streamHead } from "./answers.js";

/** The request header that holds a {@link StreamShape} as JSON. It passes through every Envoy alike. */
export const shapeHeader = "x-bench-stream";

/** An answer that comes as an event stream, the way a model sends it. */
export interface StreamShape {
  /** With the role's, the finish reason's and the usage's, without `[DONE]`: at least 4. */
  readonly events: number;
  /** Events that go out together, once the role has. */
  readonly eventsPerWrite: number;
  /** From the request to the head, which the role's event follows at once. */
  readonly waitMs: number;
  /** Between two writes. */
  readonly gapMs: number;
  /** Each token's text is the time at which it was written: see {@link readAges}. */
  readonly isStamped?: boolean;
  /** Nothing more goes out after so many writes. */
  readonly silentAfterWrites?: number;
}

const stampDigits = 13;
const stampMark = '"content":"';
const notTokens = 3;

/** Microseconds of the machine's monotonic clock, which all processes share. */
function nowUs(): bigint {
  return process.hrtime.bigint() / 1000n;
}

function event(data: object): string {
  return `data: ${JSON.stringify({ id: "c1", ...data })}\n\n`;
}

function choice(delta: object, finishReason: string | null): object {
  return { choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

const role = event(choice({ role: "assistant", content: "" }, null));
const token = event(choice({ content: " token".padEnd(stampDigits, "s") }, null));
const finish = event(choice({}, "stop"));
const done = "data: [DONE]\n\n";

export const tokenEventBytes = Buffer.byteLength(token);

/** The writes of an answer in order; head and role are the first one. */
export function writesOfShape({ events, eventsPerWrite }: StreamShape): readonly Buffer[] {
  const tokens = events - notTokens;
  const usage = { prompt_tokens: 9, completion_tokens: tokens, total_tokens: 9 + tokens };
  const rest = [...Array<string>(tokens).fill(token), finish, event({ choices: [], usage })];
  const writes: Buffer[] = [Buffer.concat([streamHead, chunk(role)])];
  for (let at = 0; at < rest.length; at += eventsPerWrite) {
    writes.push(chunk(rest.slice(at, at + eventsPerWrite).join("")));
  }
  writes.push(Buffer.concat([chunk(done), Buffer.from("0\r\n\r\n")]));
  return writes;
}

/** The same write with this moment in the place of its token, or as it is when it holds none. */
export function stamped(write: Buffer): Buffer {
  const at = write.indexOf(`${stampMark} token`);
  if (at < 0) return write;
  const copy = Buffer.alloc(write.length);
  write.copy(copy);
  copy.write(String(nowUs()).padStart(stampDigits, "0"), at + stampMark.length, "latin1");
  return copy;
}

/** Milliseconds since each stamped token in `bytes` was written. */
export function readAges(bytes: Buffer): number[] {
  const now = nowUs();
  const stamps = bytes.toString("latin1").matchAll(/"content":"(\d{13})"/g);
  return Array.from(stamps, ([, digits = ""]) => Number(now - BigInt(digits)) / 1000);
}

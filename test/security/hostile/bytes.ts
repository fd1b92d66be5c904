import { deflateSync, gzipSync } from "node:zlib";
import type { Random } from "../../chaos/random.js";

/** Names that mean something to somebody on the way. */
const KNOWN_NAMES = [
  ...[
    "authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "openai-organization",
    "openai-project",
  ],
  ...[
    "content-length",
    "transfer-encoding",
    "content-type",
    "content-encoding",
    "accept-encoding",
    "te",
    "trailer",
  ],
  ...["connection", "keep-alive", "upgrade", "expect", "host", "via", "date", "retry-after", "x-request-id"],
  ...[
    "x-llm-breaker-retry",
    "x-llm-breaker-probe",
    "x-llm-breaker-",
    "x-envoy-retry-on",
    "x-envoy-",
    "x-envoy-ratelimited",
  ],
  ...[
    "traceparent",
    "grpc-status",
    "grpc-timeout",
    "endpoint-load-metrics",
    "x-forwarded-for",
    "x-forwarded-proto",
  ],
  ...[":path", ":status", ":method", ":authority", ":protocol"],
] as const;
const KNOWN_VALUES = [
  "chunked",
  "gzip",
  "identity",
  "gzip, chunked",
  "close",
  "h2c",
  "100-continue",
  "trailers",
  "0",
  "-1",
] as const;
const MORE_VALUES = [
  "99999999999999999999",
  "application/json",
  "text/event-stream",
  "text/html",
  "*/*",
  "",
  " ",
  "\t",
  "=",
] as const;
const LENGTHS = [0, 1, 8, 40, 200, 2_000] as const;
const TOKEN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!#$%&'*+^`|~";

/** `percent` of all times. */
export function chance(random: Random, percent: number): boolean {
  return random.next() * 100 < percent;
}

/** Any bytes, as a latin1 string. */
export function anyBytes(random: Random, length: number): string {
  let text = "";
  for (let at = 0; at < length; at++) text += String.fromCharCode(random.between(0, 255));
  return text;
}

/** Bytes that a header may hold. */
export function fieldBytes(random: Random, length: number): string {
  let text = "";
  for (let at = 0; at < length; at++)
    text += String.fromCharCode(chance(random, 80) ? random.between(32, 126) : random.between(128, 255));
  return text;
}

export function headerName(random: Random): string {
  if (chance(random, 55)) return oddCase(random, random.pick(KNOWN_NAMES));
  let name = "";
  for (let left = random.between(1, chance(random, 3) ? 3_000 : 24); left > 0; left--)
    name += random.pick([...TOKEN]);
  return chance(random, 4) ? name + anyBytes(random, 2) : name;
}

export function headerValue(random: Random): string {
  if (chance(random, 45)) return random.pick([...KNOWN_VALUES, ...MORE_VALUES]);
  if (chance(random, 1)) return "x".repeat(1_000_000);
  if (chance(random, 3)) return fieldBytes(random, 60_000);
  const value = fieldBytes(random, random.pick(LENGTHS));
  if (chance(random, 5)) return `${value}\r\n ${value}`;
  return chance(random, 3) ? value + anyBytes(random, 4) : value;
}

/** Lines of a head, most of them well-formed. */
export function headerLines(random: Random): string[] {
  const most = chance(random, 5) ? 150 : 12;
  const lines: string[] = [];
  for (let left = random.between(0, most); left > 0; left--) {
    const name = headerName(random);
    const line = `${name}${random.pick([":", ": ", ":\t", " :", ""])}${headerValue(random)}`;
    lines.push(line);
    if (chance(random, 8)) lines.push(line);
  }
  return lines;
}

function oddCase(random: Random, name: string): string {
  if (chance(random, 60)) return name;
  return [...name].map((each) => (chance(random, 50) ? each.toUpperCase() : each)).join("");
}

const JSON_TEXTS = [
  '{"model":"qwen3-32b","messages":[{"role":"user","content":"hi"}]}',
  '{"model":"qwen3-32b","stream":true,"messages":[{"role":"user","content":"hi"}],"max_tokens":1e309,"n":-1}',
  '{"stream":true,"stream":false,"model":"a","model":"b","max_tokens":99999999999999999999}',
  '{"error":{"message":"EngineCore encountered an issue.","code":500}}',
  '{"choices":[{"index":0,"delta":{"content":"\\ud800"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1,"completion_tokens":1e99}}',
  '{"type":"message_start","message":{"usage":{"input_tokens":1}}}',
  `${"[".repeat(20_000)}`,
  `{"a":${'{"a":'.repeat(5_000)}`,
  `{"model":"${"\\".repeat(4_001)}`,
  "null",
  "",
] as const;

/** JSON, JSON that was cut or hit, or no JSON. */
export function jsonBytes(random: Random): string {
  const text = random.pick(JSON_TEXTS);
  if (chance(random, 20)) return text.slice(0, random.between(0, text.length));
  if (chance(random, 20) && text.length > 0) {
    const at = random.between(0, text.length - 1);
    return text.slice(0, at) + anyBytes(random, random.between(1, 6)) + text.slice(at + 1);
  }
  if (chance(random, 8)) return anyBytes(random, random.between(1, 3_000));
  return chance(random, 10) ? compressed(random, text) : text;
}

/** As gzip or deflate, whole, cut, or not what it says. */
function compressed(random: Random, text: string): string {
  const bytes = (chance(random, 50) ? gzipSync(text) : deflateSync(text)).toString("latin1");
  return chance(random, 50) ? bytes : bytes.slice(0, random.between(0, bytes.length)) + anyBytes(random, 3);
}

/** An event stream that some parser may trip over. */
export function eventBytes(random: Random): string {
  let text = "";
  for (let left = random.between(0, 12); left > 0; left--) {
    const end = random.pick(["\n\n", "\r\n\r\n", "\r\r", "\n", "\r", ""]);
    const field = random.pick([
      "data: ",
      "data:",
      "data",
      "event: error\ndata: ",
      ": ",
      "\ufeffdata: ",
      "id: ",
      "retry: ",
    ]);
    text += field + random.pick([jsonBytes(random), "[DONE]", ": ping", anyBytes(random, 20)]) + end;
  }
  return Buffer.from(text, "latin1").toString("latin1");
}

/** A chunked body: extensions, sizes that lie, trailers, an end or none. */
export function chunkedBytes(random: Random, body: string): string {
  let text = "";
  for (let at = 0; at < body.length; ) {
    const size = random.between(1, Math.max(1, Math.min(2_000, body.length - at)));
    const piece = body.slice(at, at + size);
    const told = chance(random, 4)
      ? random.pick(["-1", "ffffffffffffffffff", "zz", "", "0x5"])
      : piece.length.toString(16);
    const extension = chance(random, 10) ? `;${fieldBytes(random, random.pick(LENGTHS))}` : "";
    text += `${told}${extension}\r\n${piece}${chance(random, 97) ? "\r\n" : ""}`;
    at += size;
  }
  if (chance(random, 10)) return text;
  const trailers = chance(random, 25)
    ? headerLines(random)
        .slice(0, 5)
        .map((line) => `${line}\r\n`)
    : [];
  return `${text}0\r\n${trailers.join("")}\r\n`;
}

/** The end is missing, at times. */
export function cutAtTimes(random: Random, text: string): string {
  return chance(random, 12) ? text.slice(0, random.between(0, text.length)) : text;
}

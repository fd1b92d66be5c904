import type { Random } from "../../chaos/random.js";
import {
  anyBytes,
  chance,
  chunkedBytes,
  cutAtTimes,
  eventBytes,
  fieldBytes,
  headerLines,
  jsonBytes,
} from "./bytes.js";

const METHODS = [
  "GET",
  "PUT",
  "OPTIONS",
  "HEAD",
  "CONNECT",
  "TRACE",
  "PATCH",
  "post",
  "P\0ST",
  "PRI",
  "",
] as const;
const VERSIONS = ["HTTP/1.0", "HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", ""] as const;
const CHAT = "/v1/chat/completions";

function target(random: Random): string {
  if (chance(random, 60)) return CHAT;
  return random.pick([
    "*",
    "",
    "/",
    `//${CHAT}`,
    `${CHAT}?${fieldBytes(random, 800)}`,
    `${CHAT};a=b/../..`,
    `/%00${CHAT}`,
    `/../..${CHAT}`,
    `http://x${CHAT}`,
    `http://[::1${CHAT}`,
    "x:443",
    `/${"a".repeat(40_000)}`,
    `/${fieldBytes(random, 200)}/chat/completions`,
    `/${anyBytes(random, 20)}`,
    "/v1/responses",
    "/v1/messages?beta=true",
    "/v2/models/x/generate",
  ]);
}

/** A request over HTTP/1.1, well-formed or not. */
export function requestBytes(random: Random): string {
  const method = chance(random, 65) ? "POST" : random.pick(METHODS);
  const version = chance(random, 90) ? "HTTP/1.1" : random.pick(VERSIONS);
  const host = chance(random, 92)
    ? ["host: x"]
    : random.pick([[], ["host:"], ["host: a", "host: b"], ["host: \xff"]]);
  const body = method === "POST" ? jsonBytes(random) : chance(random, 20) ? jsonBytes(random) : "";
  const [framing, sent] = framed(random, body);
  const lines = [`${method} ${target(random)} ${version}`, ...host, ...framing, ...headerLines(random)];
  return cutAtTimes(random, `${lines.join(chance(random, 97) ? "\r\n" : "\n")}\r\n\r\n${sent}`);
}

/** How long a body is said to be, and its bytes. */
function framed(random: Random, body: string): [lines: string[], sent: string] {
  const length = `content-length: ${body.length}`;
  if (chance(random, 45)) return [[length], body];
  const chunked = "transfer-encoding: chunked";
  if (chance(random, 60)) return [[chunked], chunkedBytes(random, body)];
  return random.pick<[string[], string]>([
    [[`content-length: ${body.length + 7}`], body],
    [[`content-length: ${Math.max(0, body.length - 7)}`], body],
    [["content-length: -1"], body],
    [[`content-length: ${2 ** 31 + body.length}`], body],
    [["content-length: 999999999999999999"], body],
    [["content-length: 18446744073709551616"], body],
    [[`content-length: ${body.length}, ${body.length}`], body],
    [[length, "content-length: 3"], body],
    [[length, chunked], chunkedBytes(random, body)],
    [["transfer-encoding: gzip, chunked"], chunkedBytes(random, body)],
    [["transfer-encoding: \x0bchunked"], chunkedBytes(random, body)],
    [[], body],
  ]);
}

const STATUSES = [
  "100 Continue",
  "103 Early",
  "101 Switching",
  "204 No",
  "304 Not",
  "301 Moved",
  "400 Bad",
  "401 No",
  "404 No",
] as const;
const BAD_STATUSES = [
  "429 Slow",
  "500 Oops",
  "503 Busy",
  "099 X",
  "600 X",
  "999 X",
  "2000 OK",
  "20 OK",
  "-1 X",
  "OK 200",
] as const;
const TYPES = [
  "application/json",
  "text/event-stream",
  "TEXT/EVENT-STREAM; x=y",
  "text/html",
  "text/plain",
  "application/grpc",
] as const;

/** An answer over HTTP/1.1, of which the caller may make something or not. */
export function answerBytes(random: Random): string {
  const early = chance(random, 8)
    ? `HTTP/1.1 ${random.pick(["100 Continue", "103 Early"])}\r\n${headerLines(random).slice(0, 3).join("\r\n")}\r\n\r\n`
    : "";
  const status = chance(random, 65)
    ? "200 OK"
    : random.pick([...STATUSES, ...BAD_STATUSES, `200 ${fieldBytes(random, 20)}`]);
  const type = random.pick(TYPES);
  const body = chance(random, 50) ? eventBytes(random) : jsonBytes(random);
  const [framing, sent] = framed(random, body);
  const lines = [`HTTP/1.1 ${status}`, `content-type: ${type}`, ...framing, ...headerLines(random)];
  return cutAtTimes(random, `${early}${lines.join("\r\n")}\r\n\r\n${sent}`);
}

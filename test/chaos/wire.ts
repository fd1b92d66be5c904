import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Mode, Write } from "../support/upstream-mode.js";
import type { Shape } from "./fault.js";

export const eventStreamType = "text/event-stream";
export const jsonType = "application/json";
const model = "chaos";

/** How the bytes of an answer end. */
export type Ending =
  /** As they should. */
  | "clean"
  | "trailers"
  /** The connection is closed before the end. */
  | "closed"
  /** Nothing more comes. */
  | "silence"
  /** A chunk whose size is no number. */
  | "garbage";

export type Framing = "chunked" | "content-length" | "until-close";

export interface WireAnswer {
  readonly type: string;
  readonly parts: readonly (string | Uint8Array | { readonly waitMs: number })[];
  readonly ending: Ending;
  /** Chunked if not given. The other two end cleanly or are closed. */
  readonly framing?: Framing;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer of status 200, byte by byte. It never leaves a connection that could be used again. */
export function wireAnswer({ type, parts, ending, framing = "chunked", headers }: WireAnswer): Mode {
  const length = parts.reduce((sum, part) => sum + sizeOf(part), 0);
  // What is closed too early has promised more.
  const promised = ending === "clean" ? length : length + 100;
  const coding: Record<Framing, Record<string, string>> = {
    chunked: { "transfer-encoding": "chunked" },
    "content-length": { "content-length": String(promised) },
    "until-close": {},
  };
  const top = head(200, { "content-type": type, connection: "close", ...coding[framing], ...headers });
  const body = framing === "chunked" ? [...parts.map(chunk), ...chunkedEnd(ending)] : parts;
  return { kind: "raw", writes: [top, ...body], close: ending !== "silence" };
}

export function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

function chunk(part: WireAnswer["parts"][number]): Write {
  if (typeof part === "object" && "waitMs" in part) return part;
  if (sizeOf(part) === 0) return "";
  const bytes = typeof part === "string" ? Buffer.from(part) : part;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

function sizeOf(part: WireAnswer["parts"][number]): number {
  if (typeof part === "string") return Buffer.byteLength(part);
  return "waitMs" in part ? 0 : part.length;
}

function chunkedEnd(ending: Ending): Write[] {
  switch (ending) {
    case "clean":
      return ["0\r\n\r\n"];
    case "trailers":
      return ["0\r\nx-late: 1\r\n\r\n"];
    case "garbage":
      return ["no-size\r\nmore\r\n"];
    default:
      return [];
  }
}

/** What a healthy tier says: the same text in every form, so that a mix of two tiers' answers shows. */
export const healthyTokens = [" token0", " token1", " token2", " token3", " token4"];
export const healthyMessage = "Hello.";

export function healthyEvents(): string[] {
  return [...events(healthyTokens.length), finishEvent(model), doneEvent];
}

/** A role and the first `count` tokens. */
export function events(count: number): string[] {
  return [roleEvent(model), ...healthyTokens.slice(0, count).map((token) => tokenEvent(model, token))];
}

export function healthyJson(): string {
  return completionJson(model, healthyMessage);
}

/** What has come of the answer when the fault strikes. */
export function beginning({ moment, streamed, random }: Shape): { type: string; parts: string[] } {
  const type = streamed ? eventStreamType : jsonType;
  const whole = healthyJson();
  switch (moment) {
    case "before-headers":
    case "after-headers":
      return { type, parts: [] };
    case "before-first-token":
      return { type, parts: random.pick([events(0), [": waiting\n\n", ...events(0)]]) };
    case "after-tokens":
      if (streamed) return { type, parts: events(random.between(1, 4)) };
      return { type, parts: [whole.slice(0, random.between(1, whole.length - 100))] };
    case "at-end":
      if (streamed) return { type, parts: [...events(healthyTokens.length), finishEvent(model)] };
      return { type, parts: [whole.slice(0, -random.between(1, 3))] };
  }
}

import { type IncomingHttpHeaders, request as openRequest } from "node:http";

export interface CallSettings {
  readonly method?: string;
  /** Values are sent as latin1, so any byte can be had. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Sends the body without a content-length. */
  readonly chunked?: boolean;
  /** The caller leaves after this time, whatever has come. */
  readonly leaveAfterMs?: number;
  /** The caller leaves once this many body bytes have come. */
  readonly leaveAfterBytes?: number;
  /** Gives up (with `brokenBy` "timeout") after this time; 30 s if not set. */
  readonly timeoutMs?: number;
  readonly onData?: (chunk: Buffer) => void;
}

export interface Answer {
  /** 0 when no headers came. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The whole answer came: its length or last chunk was seen. */
  readonly complete: boolean;
  /** Why the answer is not complete; undefined when it is. */
  readonly brokenBy: string | undefined;
  /** Body bytes that had come when it broke; undefined when complete. */
  readonly brokenAt: number | undefined;
  readonly headersMs: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
}

/** One call on a connection of its own (so a burst spreads over Envoy's workers). Never rejects. */
export function send(url: string, settings: CallSettings = {}): Promise<Answer> {
  const startMs = performance.now();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  let headersMs: number | undefined;
  let firstByteMs: number | undefined;
  return new Promise((resolve) => {
    let settled = false;
    const timers: NodeJS.Timeout[] = [];
    const settle = (brokenBy: string | undefined): void => {
      if (settled) return;
      settled = true;
      for (const timer of timers) clearTimeout(timer);
      const body = Buffer.concat(chunks);
      const totalMs = performance.now() - startMs;
      const complete = brokenBy === undefined;
      const brokenAt = complete ? undefined : bytes;
      const text = body.toString("utf8");
      resolve({ status, headers, body, text, complete, brokenBy, brokenAt, headersMs, firstByteMs, totalMs });
    };
    const method = settings.method ?? (settings.body === undefined ? "GET" : "POST");
    const outgoing = openRequest(
      url,
      { method, agent: false, headers: requestHeaders(settings) },
      (incoming) => {
        headersMs = performance.now() - startMs;
        status = incoming.statusCode ?? 0;
        headers = incoming.headers;
        incoming.on("data", (chunk: Buffer) => {
          firstByteMs ??= performance.now() - startMs;
          chunks.push(chunk);
          bytes += chunk.length;
          settings.onData?.(chunk);
          if (settings.leaveAfterBytes !== undefined && bytes >= settings.leaveAfterBytes) leave("left");
        });
        incoming.on("error", (error) => settle(error.message));
        incoming.on("close", () => settle(incoming.complete ? undefined : "aborted"));
      },
    );
    const leave = (why: string): void => {
      settle(why);
      outgoing.destroy();
    };
    outgoing.on("error", (error) => settle(error.message));
    timers.push(setTimeout(() => leave("timeout"), settings.timeoutMs ?? 30_000));
    if (settings.leaveAfterMs !== undefined)
      timers.push(setTimeout(() => leave("left"), settings.leaveAfterMs));
    outgoing.end(settings.body);
  });
}

function requestHeaders(settings: CallSettings): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (settings.body !== undefined) {
    headers["content-type"] = "application/json";
    if (settings.chunked) headers["transfer-encoding"] = "chunked";
    else headers["content-length"] = String(Buffer.byteLength(settings.body));
  }
  for (const [name, value] of Object.entries(settings.headers ?? {})) {
    headers[name] = typeof value === "string" ? value : [...value];
  }
  return headers;
}

export interface ChatSettings extends Omit<CallSettings, "body"> {
  readonly model?: string;
  readonly prompt?: string;
  readonly stream?: boolean;
  readonly maxTokens?: number;
  /** Further top-level keys of the body. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A chat completion; `baseUrl` is without a path. */
export function chat(baseUrl: string, settings: ChatSettings = {}): Promise<Answer> {
  const { model, prompt, stream, maxTokens, extra, ...call } = settings;
  const body = JSON.stringify({
    model: model ?? "qwen3-32b",
    messages: [{ role: "user", content: prompt ?? "hi" }],
    ...(stream && { stream }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...extra,
  });
  return send(`${baseUrl}/v1/chat/completions`, { ...call, body });
}

/** The payloads of an event stream's `data:` lines. */
export function sseData(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart());
}

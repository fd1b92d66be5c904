/** One write to the wire: bytes, or a pause before the next. */
export type Write = string | Uint8Array | { readonly waitMs: number };

/** What a fake upstream does with a request. */
export type Mode =
  /** Answers as a model server: JSON, or an event stream when the body asks for one. */
  | { readonly kind: "ok"; readonly delayMs?: number }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Answers before the request's body has been read. */
      readonly early?: boolean;
    }
  | { readonly kind: "sse"; readonly events: number; readonly gapMs?: number }
  /** `at` good events, then an error event and the end marker, all under status 200. */
  | { readonly kind: "sseError"; readonly at: number; readonly error?: Readonly<Record<string, unknown>> }
  | { readonly kind: "doneOnly" }
  /** `at` good events, then the stream breaks; `clean` ends it well-formed but without a finish reason or end marker. */
  | { readonly kind: "cut"; readonly at: number; readonly how: "rst" | "clean"; readonly gapMs?: number }
  /** Event-stream headers, then nothing. */
  | { readonly kind: "stall" }
  /** Not even headers. */
  | { readonly kind: "hang" }
  /** Event-stream headers at once, the first token after `ms`. */
  | { readonly kind: "ttft"; readonly ms: number; readonly events?: number }
  /** These bytes in these writes straight to the socket, status line and all (HTTP/1.1 only). */
  | { readonly kind: "raw"; readonly writes: readonly Write[]; readonly close?: boolean }
  /** A body in exactly these writes. */
  | {
      readonly kind: "chunks";
      readonly headers?: Readonly<Record<string, string>>;
      readonly writes: readonly Write[];
    }
  /** Answers with what came: method, path, headers, byte count, SHA-256 and the body in base64. */
  | { readonly kind: "echo" }
  /** A valid completion of about this many bytes, with a content-length. */
  | { readonly kind: "bigJson"; readonly bytes: number }
  /** Resets the connection (the stream under h2) before any header. */
  | { readonly kind: "reset" };

/**
 * The mode a request asks for itself: `?mode=` with a kind or a whole mode as JSON, or the same in the header
 * `x-upstream-mode`. Undefined when it asks for none.
 */
export function modeAskedBy(path: string, header: string | undefined): Mode | undefined {
  const asked = new URL(path, "http://upstream").searchParams.get("mode") ?? header;
  if (!asked) return undefined;
  return asked.startsWith("{") ? (JSON.parse(asked) as Mode) : ({ kind: asked } as Mode);
}

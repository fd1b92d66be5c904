import type { Answer } from "./client.js";

export interface SlowCallSettings {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How long nothing is read once the answer has begun. */
  readonly pauseMs: number;
  readonly timeoutMs: number;
}

/** A caller that stops reading after the first bytes, so that the connection's buffers fill up. Never rejects. */
export async function callSlowly(url: string, settings: SlowCallSettings): Promise<Answer> {
  const startMs = performance.now();
  const elapsedMs = (): number => performance.now() - startMs;
  const chunks: Uint8Array[] = [];
  let response: Response | undefined;
  let headersMs: number | undefined;
  let firstByteMs: number | undefined;
  let brokenBy: string | undefined;
  try {
    const headers = { "content-type": "application/json", ...settings.headers };
    const signal = AbortSignal.timeout(settings.timeoutMs);
    response = await fetch(url, { method: "POST", body: settings.body, headers, signal });
    headersMs = elapsedMs();
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      if (firstByteMs !== undefined) continue;
      firstByteMs = elapsedMs();
      await new Promise((resolve) => setTimeout(resolve, settings.pauseMs));
    }
  } catch (error) {
    brokenBy = (error as Error).name === "TimeoutError" ? "timeout" : String(error);
  }
  const body = Buffer.concat(chunks);
  return {
    status: response?.status ?? 0,
    headers: Object.fromEntries(response?.headers ?? []),
    body,
    text: body.toString("utf8"),
    complete: brokenBy === undefined,
    brokenBy,
    brokenAt: brokenBy === undefined ? undefined : body.length,
    headersMs,
    firstByteMs,
    totalMs: elapsedMs(),
  };
}

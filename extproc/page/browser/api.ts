import type { Order } from "./orders.js";

const TOKEN_KEY = "llm-breaker.token";
/** The service answers within milliseconds; what takes longer hangs. */
const PATIENCE_MS = 4000;

/** The service wants a token, and this one is none of its. */
export class UnauthorizedError extends Error {
  override readonly name = "UnauthorizedError";
}

/** The service understood and refused. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(
    readonly status: number,
    message: string,
    readonly field: string | undefined,
  ) {
    super(message);
  }
}

/** The control API, with the token of this tab. */
export class Api {
  private token = sessionStorage.getItem(TOKEN_KEY) ?? "";

  get hasToken(): boolean {
    return this.token !== "";
  }

  signIn(token: string): void {
    this.token = token;
    sessionStorage.setItem(TOKEN_KEY, token);
  }

  signOut(): void {
    this.token = "";
    sessionStorage.removeItem(TOKEN_KEY);
  }

  async get<T>(path: string): Promise<T> {
    const answer = await this.ask(path, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return (await answer.json()) as T;
  }

  async order({ backend, action, lasts, why, who }: Order): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const path = `/v1/backends/${encodeURIComponent(backend)}`;
    const signed: Record<string, string> = who === "" ? {} : { who };
    if (action === "withdraw") {
      const query = new URLSearchParams({ why, ...signed });
      await this.ask(`${path}/override?${query}`, { method: "DELETE", signal });
      return;
    }
    const body = JSON.stringify({ why, ...signed, ...(action !== "reset" && { for: lasts }) });
    const headers = { "content-type": "application/json" };
    await this.ask(`${path}/${action}`, { method: "POST", body, headers, signal });
  }

  /** A stream that goes on until it is aborted or the service ends it. EventSource can't show a token. */
  async *stream(path: string, lastId: number, signal: AbortSignal): AsyncGenerator<string> {
    const headers = { "last-event-id": String(lastId) };
    const { body } = await this.ask(path, { headers, signal });
    if (body === null) return;
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  }

  private async ask(
    path: string,
    init: RequestInit & { headers?: Record<string, string> },
  ): Promise<Response> {
    const bearer: Record<string, string> = this.token === "" ? {} : { authorization: `Bearer ${this.token}` };
    const answer = await fetch(path, { ...init, headers: { ...init.headers, ...bearer }, cache: "no-store" });
    if (answer.ok) return answer;
    const { message, field } = await problemOf(answer);
    if (answer.status === 401) throw new UnauthorizedError(message);
    throw new RefusedError(answer.status, message, field);
  }
}

async function problemOf(answer: Response): Promise<{ message: string; field?: string }> {
  try {
    const { error } = (await answer.json()) as { error: { message: string; field?: string } };
    return error;
  } catch {
    return { message: `the service answered with status ${answer.status}` };
  }
}

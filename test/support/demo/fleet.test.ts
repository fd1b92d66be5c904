import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type { FaultRequest } from "../../../demo/fleet/faults.js";
import { type Fleet, startFleet } from "../../../demo/fleet/fleet.js";
import { PortBusyError } from "../../../demo/fleet/listen.js";
import { DEMO_PUBLIC_KEY, demoBackends } from "../../../demo/fleet/settings.js";

const QUICK = {
  firstTokenMs: 1,
  prefillMsPerToken: 0,
  tokenGapMs: 0,
  jitter: 0,
  answerTokens: [8, 8],
} as const;

describe("the simulated GPU fleet", () => {
  let fleet: Fleet;

  before(async () => {
    const backends = demoBackends([0, 0, 0]).map((backend) => ({ ...backend, pace: QUICK }));
    fleet = await startFleet({ backends, adminPort: 0, seed: 1 });
  });
  after(() => fleet.stop());
  beforeEach(async () => {
    await admin("DELETE", { backend: "gpu" });
  });

  const url = (name: string, path: string): string => `http://127.0.0.1:${fleet.backend(name).port}${path}`;

  async function admin(method: string, body: object, path = "/faults"): Promise<Response> {
    return fetch(`http://127.0.0.1:${fleet.adminPort}${path}`, { method, body: JSON.stringify(body) });
  }

  async function fault(fault: FaultRequest): Promise<void> {
    const answer = await admin("POST", { backend: "gpu", ...fault });
    assert.equal(answer.status, 200, await answer.text());
  }

  function ask(extra: object = {}, name = "gpu", headers: Record<string, string> = {}): Promise<Response> {
    const messages = [{ role: "user", content: "tell me about circuit breakers" }];
    return fetch(url(name, "/v1/chat/completions"), {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "qwen3-32b", messages, max_tokens: 5, ...extra }),
    });
  }

  function events(text: string): unknown[] {
    const lines = text.split("\n").filter((line) => line.startsWith("data: ") && line !== "data: [DONE]");
    return lines.map((line) => JSON.parse(line.slice(6)) as unknown);
  }

  test("answers in one piece with content, a finish reason and usage cut at max_tokens", async () => {
    const answer = (await (await ask()).json()) as {
      choices: { message: { content: string }; finish_reason: string }[];
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    assert.ok((answer.choices[0]?.message.content.length ?? 0) > 0);
    assert.equal(answer.choices[0]?.finish_reason, "length");
    assert.equal(answer.usage.completion_tokens, 5);
    assert.equal(answer.usage.prompt_tokens, 8);
  });

  test("streams role, contents, finish, usage when asked for, and [DONE]", async () => {
    const answer = await ask({ stream: true, stream_options: { include_usage: true } });
    assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/);
    const text = await answer.text();
    const all = events(text) as {
      choices: { delta: object; finish_reason: string | null }[];
      usage?: object;
    }[];
    assert.deepEqual(all[0]?.choices[0]?.delta, { role: "assistant", content: "" });
    assert.equal(all.length, 1 + 5 + 1 + 1);
    assert.equal(all[6]?.choices[0]?.finish_reason, "length");
    assert.deepEqual(all[7]?.usage, { prompt_tokens: 8, completion_tokens: 5, total_tokens: 13 });
    assert.ok(text.endsWith("data: [DONE]\n\n"));
  });

  test("leaves the usage chunk out when it was not asked for", async () => {
    assert.equal(events(await (await ask({ stream: true })).text()).length, 7);
  });

  test("answers plain completions, streamed and not", async () => {
    const completion = (extra: object): Promise<Response> =>
      fetch(url("small", "/v1/completions"), {
        method: "POST",
        body: JSON.stringify({ prompt: "once upon", max_tokens: 3, ...extra }),
      });
    const whole = (await (await completion({})).json()) as { choices: { text: string }[] };
    assert.ok((whole.choices[0]?.text.length ?? 0) > 0);
    const chunks = events(await (await completion({ stream: true })).text()) as {
      choices: { text: string }[];
    }[];
    assert.equal(chunks.length, 4);
    assert.ok((chunks[0]?.choices[0]?.text.length ?? 0) > 0);
  });

  test("out of memory is a 500 with torch's text, and the engine stays dead for the recovery lag", async () => {
    await fault({ kind: "cudaOutOfMemory", recoveryMs: 600_000 });
    const during = await ask();
    assert.equal(during.status, 500);
    assert.match(
      ((await during.json()) as { error: { message: string } }).error.message,
      /^CUDA out of memory\. Tried/,
    );
    assert.match(
      await (await fetch(url("gpu", "/metrics"))).text(),
      /vllm:kv_cache_usage_perc\{[^}]*\} 0\.99/,
    );
    const ended = (await (await admin("DELETE", { backend: "gpu" })).json()) as { recoveryMs: number };
    assert.equal(ended.recoveryMs, 600_000);
    const after = (await (await ask()).json()) as { error: { message: string } };
    assert.match(after.error.message, /^EngineCore encountered an issue/);
  });

  test("a recovery by restart refuses new connections and then listens on the same port again", async () => {
    const { port } = fleet.backend("gpu");
    await fault({ kind: "cudaOutOfMemory", recoveryMs: 600_000, recovery: "refused" });
    await admin("DELETE", { backend: "gpu" });
    const refused = await ask({}, "gpu", { connection: "close" }).catch((error: Error) => error);
    assert.ok(refused instanceof Error);
    await fault({ kind: "slow", factor: 1 });
    assert.equal((await ask()).status, 200);
    assert.equal(fleet.backend("gpu").port, port);
  });

  test("a hang gives no headers while health stays green, and the wait shows in the metrics", async () => {
    await fault({ kind: "hang" });
    const abort = new AbortController();
    const hung = fetch(url("gpu", "/v1/chat/completions"), {
      method: "POST",
      body: JSON.stringify({ messages: [] }),
      signal: abort.signal,
    });
    const ended = hung.then(
      () => "answered",
      () => "aborted",
    );
    while (fleet.backend("gpu").arrivals.running === 0) await new Promise(setImmediate);
    assert.equal((await fetch(url("gpu", "/health"))).status, 200);
    assert.match(
      await (await fetch(url("gpu", "/metrics"))).text(),
      /vllm:num_requests_waiting\{[^}]*\} 1\n/,
    );
    abort.abort();
    assert.equal(await ended, "aborted");
    while (fleet.backend("gpu").arrivals.running > 0) await new Promise(setImmediate);
    assert.equal(fleet.backend("gpu").arrivals.list().at(-1)?.outcome, "clientLeft");
  });

  test("a slow first token sends headers and the role chunk at once", async () => {
    await fault({ kind: "slowFirstToken", firstTokenMs: 600_000 });
    const answer = await ask({ stream: true });
    assert.equal(answer.status, 200);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    assert.match(Buffer.from(first?.value ?? []).toString(), /"role":"assistant"/);
    await reader?.cancel();
  });

  test("an error inside a 200 stream is the first event, followed by [DONE]", async () => {
    await fault({ kind: "errorInStream" });
    const answer = await ask({ stream: true });
    assert.equal(answer.status, 200);
    const text = await answer.text();
    assert.match(text, /^data: \{"error":\{"message":"EngineCore encountered an issue/);
    assert.ok(text.endsWith("\n\ndata: [DONE]\n\n"));
  });

  test("an error inside a 200 may be the whole of an answer in one piece", async () => {
    await fault({ kind: "errorInStream", inOnePiece: true });
    const answer = await ask();
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /^\{"error":\{"message":"EngineCore encountered an issue/);
  });

  test("an engine that warms up is slow, and a long prompt kills it and all that runs on it", async () => {
    const gpu = fleet.backend("gpu");
    const state = (): string => gpu.condition.state;
    const isOver = async (): Promise<void> => {
      while (state() === "recovering") await new Promise(setImmediate);
    };
    const warmUp = { forMs: 600_000, factor: 100, deadlyPromptTokens: 100 };
    await fault({ kind: "cudaOutOfMemory", recoveryMs: 20, recovery: "refused", warmUp });
    gpu.endFault();
    await isOver();
    assert.equal(state(), "warming");
    const short = ask().then(
      (answer) => answer.text(),
      () => "cut",
    );
    while (gpu.arrivals.running === 0) await new Promise(setImmediate);
    const long = { messages: [{ role: "user", content: "word ".repeat(200) }] };
    await assert.rejects(ask(long));
    assert.equal(await short, "cut");
    assert.equal(state(), "recovering");
    await isOver();
    assert.equal(state(), "warming");
  });

  test("a reset destroys the socket before any header", async () => {
    await fault({ kind: "reset" });
    await assert.rejects(ask());
    assert.equal(fleet.backend("gpu").arrivals.list().at(-1)?.outcome, "cut");
  });

  test("a cut stream ends after the given number of events, by reset or cleanly", async () => {
    await fault({ kind: "cutStream", afterEvents: 2, how: "rst" });
    await assert.rejects(ask({ stream: true }).then((answer) => answer.text()));
    await fault({ kind: "cutStream", afterEvents: 2, how: "clean" });
    const text = await (await ask({ stream: true })).text();
    assert.equal(events(text).length, 3);
    assert.doesNotMatch(text, /DONE/);
  });

  test("any status with any headers and body can be asked for", async () => {
    await fault({ kind: "status", status: 429, headers: { "retry-after": "2" }, body: "busy" });
    const answer = await ask();
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get("retry-after"), "2");
    assert.equal(await answer.text(), "busy");
  });

  test("a wrong fault is refused with the field's name and changes nothing", async () => {
    const answer = await admin("POST", { backend: "gpu", kind: "cutStream", afterEvents: -1 });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /afterEvents/);
    const unknown = await admin("POST", { backend: "nope", kind: "hang" });
    assert.equal(unknown.status, 404);
    assert.deepEqual(await unknown.json(), { error: "backend must be one of gpu, small, public, got nope" });
    assert.equal(fleet.backend("gpu").condition.state, "healthy");
  });

  test("the public backend wants its own key and tells whether it ever saw a caller's", async () => {
    assert.equal((await ask({}, "public", { authorization: "Bearer caller-one" })).status, 401);
    assert.equal((await ask({}, "public", { authorization: `Bearer ${DEMO_PUBLIC_KEY}` })).status, 200);
    const seen = async (value: string): Promise<unknown> =>
      (await admin("POST", { backend: "public", value }, "/seen")).json();
    assert.deepEqual(await seen("caller-one"), { seen: true, overflowed: false });
    assert.deepEqual(await seen("caller-two"), { seen: false, overflowed: false });
  });

  test("the log has arrivals with token counts, and knows the breaker's probe by its body", async () => {
    await ask({ user: "call-7", stream: true }).then((answer) => answer.text());
    await ask({ messages: [{ role: "user", content: "hi" }], max_tokens: 1 }).then((answer) => answer.text());
    const answer = await fetch(`http://127.0.0.1:${fleet.adminPort}/requests?backend=gpu`);
    const { gpu } = (await answer.json()) as { gpu: { total: number; requests: Record<string, unknown>[] } };
    const [user, probe] = gpu.requests.slice(-2);
    assert.equal(user?.user, "call-7");
    assert.equal(user?.promptTokens, 8);
    assert.equal(user?.outcome, "complete");
    assert.equal(user?.probe, false);
    assert.equal(probe?.probe, true);
    assert.equal(gpu.total, gpu.requests.length);
  });

  test("a busy port is named together with the remedy", async () => {
    const { port } = fleet.backend("gpu");
    await assert.rejects(startFleet({ ports: [port, 0, 0], adminPort: 0 }), (error: Error) => {
      assert.ok(error instanceof PortBusyError);
      assert.match(error.message, new RegExp(`Port ${port} .*Stop it`));
      return true;
    });
  });
});

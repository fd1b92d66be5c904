import assert from "node:assert/strict";
import { Action, MapType } from "./host/abi.js";
import { type HostContext, type LocalReply, RequestScope } from "./host/context.js";
import { type Header, HeaderMap } from "./host/header-map.js";
import { Stream } from "./host/stream.js";
import type { Vm } from "./host/vm.js";
import type { World } from "./host/world.js";

/** What a backend does with an attempt. */
export type BackendAnswer =
  | "reset"
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>> | readonly Header[];
      readonly body?: readonly (string | Buffer)[];
      /** The connection breaks after the body's last chunk. */
      readonly cut?: boolean;
    };

export interface Attempt {
  readonly cluster: string;
  /** As the backend got them. */
  readonly headers: HeaderMap;
}

export interface Exchange {
  readonly status: number;
  readonly headers: HeaderMap | undefined;
  readonly body: Buffer;
  readonly localReply: LocalReply | undefined;
  readonly attempts: readonly Attempt[];
  readonly scope: RequestScope;
}

export interface RequestSettings {
  readonly headers?: Readonly<Record<string, string>> | readonly Header[];
  readonly body?: readonly (string | Buffer)[];
  readonly answer?: (cluster: string, attempt: number, scope: RequestScope) => BackendAnswer;
}

const retryHeader = "x-llm-breaker-retry";
const maxAttempts = 4;
const goodAnswer: BackendAnswer = {
  headers: { ":status": "200", "content-type": "application/json" },
  body: ['{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}'],
};

/**
 * One worker of Envoy with the filter in its three positions, and the router between them: chooses the cluster by filter
 * state, and retries what was reset or carries the retry header.
 */
export class Worker {
  readonly vm: Vm;
  readonly gate: HostContext;
  readonly admit: HostContext;
  readonly meter: HostContext;

  constructor(world: World, policy: string) {
    this.vm = world.addVm();
    const start = (position: string, configuration: string): HostContext => {
      const { root, configured } = this.vm.addRoot(position, configuration);
      assert.ok(configured, `${position} refused its configuration: ${this.vm.logs.at(-1)?.text}`);
      return root;
    };
    this.gate = start("gate", policy);
    this.admit = start("admit", "");
    this.meter = start("meter", "");
  }

  /** A tick of the admit's root does nothing but hand the counts since the last one to the host. */
  flushCounters(): void {
    this.vm.tick(this.admit);
  }

  /** The meter's next tick: files what went well since the last one. */
  fileSuccesses(): void {
    this.vm.world.clock.advance(250);
    this.vm.tick(this.meter);
  }

  newScope(): RequestScope {
    const metadata = { filter_metadata: { "llm.breaker": { chain: "chat" } } };
    return new RequestScope({ xds: { route_metadata: metadata, route_name: "chat" } });
  }

  headersOf(headers: Readonly<Record<string, string>>): HeaderMap {
    return new HeaderMap(headers);
  }

  /** The head of a request without a body. */
  plainHeaders(): HeaderMap {
    return requestHeaders({}, []);
  }

  openGate(scope: RequestScope): Stream {
    return new Stream(this.vm, this.gate, scope);
  }

  openMeter(scope: RequestScope, cluster: string, properties: Record<string, string> = {}): Stream {
    const stream = new Stream(this.vm, this.meter, scope);
    const metadata = { filter_metadata: { "llm.breaker": { backend: cluster } } };
    stream.context.properties = {
      xds: { cluster_name: cluster, cluster_metadata: metadata },
      upstream: { local_address: "127.0.0.1:40000", cx_pool_ready_duration: 1_000_000n, ...properties },
    };
    return stream;
  }

  /** A whole request, from the client's headers to the last callback. */
  send(settings: RequestSettings = {}): Exchange {
    const scope = this.newScope();
    const body = settings.body ?? [
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":16}',
    ];
    const headers = requestHeaders(settings.headers, body);
    const gate = this.openGate(scope);
    const attempts: Attempt[] = [];
    let final: Omit<Exchange, "attempts" | "scope"> | undefined;
    if (this.#passGate(gate, headers, body)) {
      const admit = new Stream(this.vm, this.admit, scope);
      const action = admit.requestHeaders(headers);
      if (action === Action.go)
        final = this.#route(scope, headers, body, attempts, settings.answer ?? (() => goodAnswer));
      else final = exchangeOf(admit.context.localReply);
      admit.endDownstream();
    } else {
      final = exchangeOf(gate.context.localReply);
    }
    if (final.headers) {
      gate.responseHeaders(final.headers);
      gate.responseBody(final.body, true);
    }
    gate.endDownstream();
    return { ...final, attempts, scope };
  }

  #passGate(gate: Stream, headers: HeaderMap, body: readonly (string | Buffer)[]): boolean {
    let action = gate.requestHeaders(headers, body.length === 0);
    body.forEach((chunk, index) => {
      if (!gate.context.localReply) action = gate.requestBody(chunk, index === body.length - 1);
    });
    return action === Action.go && !gate.context.localReply;
  }

  #route(
    scope: RequestScope,
    headers: HeaderMap,
    body: readonly (string | Buffer)[],
    attempts: Attempt[],
    answer: (cluster: string, attempt: number, scope: RequestScope) => BackendAnswer,
  ): Omit<Exchange, "attempts" | "scope"> {
    for (;;) {
      const cluster = scope.state("llm.breaker.backend") ?? "llm.breaker.stop";
      if (cluster === "llm.breaker.stop") return exchangeOf(undefined);
      const meter = this.openMeter(scope, cluster);
      meter.requestHeaders(headers, body.length === 0);
      attempts.push({ cluster, headers: headers.clone() });
      for (const [index, chunk] of body.entries()) meter.requestBody(chunk, index === body.length - 1);
      const given = answer(cluster, attempts.length, scope);
      const response = given === "reset" ? undefined : this.#respond(meter, given);
      meter.endUpstream();
      if (response && !response.retries) return response;
      if (attempts.length === maxAttempts) return response ?? exchangeOf(undefined);
    }
  }

  #respond(
    meter: Stream,
    given: Exclude<BackendAnswer, "reset">,
  ): (ReturnType<typeof exchangeOf> & { retries: boolean }) | undefined {
    const headers = new HeaderMap(given.headers ?? { ":status": String(given.status ?? 200) });
    if (given.status !== undefined) headers.set(":status", String(given.status));
    const body = given.body ?? [];
    meter.responseHeaders(headers, body.length === 0);
    for (const [index, chunk] of body.entries()) {
      if (headers.get(retryHeader)) break;
      meter.responseBody(chunk, index === body.length - 1 && !given.cut);
    }
    const retries = headers.get(retryHeader) !== undefined;
    // Envoy retries a reset only while it has not begun the client's answer.
    if (given.cut && !retries && meter.context.maps.has(MapType.responseHeaders)) return undefined;
    const status = Number(headers.get(":status"));
    return { status, headers, body: Buffer.concat(meter.passed), localReply: undefined, retries };
  }
}

function exchangeOf(localReply: LocalReply | undefined): Omit<Exchange, "attempts" | "scope"> {
  const { status = 503, headers, body = Buffer.alloc(0) } = localReply ?? {};
  return { status, headers, body, localReply };
}

function requestHeaders(given: RequestSettings["headers"], body: readonly (string | Buffer)[]): HeaderMap {
  const bytes = body.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
  const headers = new HeaderMap({
    ":method": "POST",
    ":path": "/v1/chat/completions",
    ":authority": "llm.example",
    ":scheme": "http",
    "content-type": "application/json",
    ...(body.length > 0 && { "content-length": String(bytes) }),
  });
  for (const [name, value] of new HeaderMap(given ?? []).entries) headers.add(name, value);
  return headers;
}

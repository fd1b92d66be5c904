import type { RequestScope } from "../../wasm/host/context.js";
import { HeaderMap } from "../../wasm/host/header-map.js";
import type { Stream } from "../../wasm/host/stream.js";
import { Stream as FilterStream } from "../../wasm/host/stream.js";
import { completion, jsonHead } from "../../wasm/recovery.js";
import type { Worker } from "../../wasm/worker.js";

const body = '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":16}';
const stop = "llm.breaker.stop";
const retryHeader = "x-llm-breaker-retry";

/** One request, callback by callback, from the gate to the attempt that is under way. */
export class Request {
  readonly startMs: number;
  readonly #worker: Worker;
  readonly #scope: RequestScope;
  readonly #headers: HeaderMap;
  readonly #gate: Stream;
  #admit: Stream | undefined;
  #meter: Stream | undefined;
  #status = 0;

  constructor(worker: Worker) {
    this.startMs = worker.vm.world.clock.nowMs;
    this.#worker = worker;
    this.#scope = worker.newScope();
    this.#headers = worker.plainHeaders();
    this.#headers.set("content-length", String(body.length));
    this.#gate = worker.openGate(this.#scope);
    this.#gate.requestHeaders(this.#headers);
    if (!this.#gate.context.localReply) this.#gate.requestBody(body, true);
    this.#status = this.#gate.context.localReply?.status ?? 0;
    if (this.#status !== 0) return;
    this.#admit = new FilterStream(worker.vm, worker.admit, this.#scope);
    this.#admit.requestHeaders(this.#headers);
    this.#attempt();
  }

  /** Whether an attempt is under way at this cluster. */
  isAt(cluster: string): boolean {
    return this.#meter !== undefined && this.#scope.state("llm.breaker.backend") === cluster;
  }

  /** The answer of the present attempt; what asks to be tried again is, at the next tier. */
  answer(head: Readonly<Record<string, string>>, text: string): void {
    const meter = this.#meter;
    if (!meter) return;
    const headers = new HeaderMap(head);
    meter.responseHeaders(headers);
    if (!headers.get(retryHeader)) meter.responseBody(text, true);
    meter.endUpstream();
    this.#meter = undefined;
    if (headers.get(retryHeader)) this.#attempt();
    else this.#status = Number(headers.get(":status"));
  }

  /** Any further attempt is answered well; the status that the caller gets. */
  finish(): number {
    while (this.#meter) this.answer(jsonHead, completion);
    this.#admit?.endDownstream();
    this.#gate.endDownstream();
    return this.#status;
  }

  /** The caller leaves: downstream filters hear of it before the attempt's. */
  leave(): void {
    const left = { response: { code_details: "downstream_remote_disconnect" } };
    this.#admit?.endDownstream();
    this.#gate.context.properties = left;
    this.#gate.endDownstream();
    const meter = this.#meter;
    if (!meter) return;
    meter.context.properties = { ...meter.context.properties, ...left };
    meter.endUpstream();
  }

  #attempt(): void {
    const cluster = this.#scope.state("llm.breaker.backend") ?? stop;
    if (cluster === stop) return;
    this.#meter = this.#worker.openMeter(this.#scope, cluster);
    this.#meter.requestHeaders(this.#headers);
    this.#meter.requestBody(body, true);
  }
}

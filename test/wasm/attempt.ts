import type { RequestScope } from "./host/context.js";
import { HeaderMap } from "./host/header-map.js";
import type { Stream } from "./host/stream.js";
import type { Worker } from "./worker.js";

type Texts = Readonly<Record<string, string>>;

/** One request past the gate, and the attempts that are made for it, each with the metadata of its cluster. */
export class AttemptedRequest {
  readonly scope: RequestScope;
  readonly headers: HeaderMap;
  readonly #gate: Stream;

  constructor(
    readonly worker: Worker,
    readonly body: string,
    headers: Texts = {},
  ) {
    this.scope = worker.newScope();
    this.headers = new HeaderMap({
      ":method": "POST",
      ":path": "/v1/chat/completions",
      ":authority": "llm.example",
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    });
    this.#gate = worker.openGate(this.scope);
    this.#gate.requestHeaders(this.headers);
    this.#gate.requestBody(body, true);
  }

  /** The meter of an attempt; it has seen the whole request. */
  start(metadata: Texts & { backend: string }): Stream {
    const meter = this.worker.openMeter(this.scope, metadata.backend);
    meter.context.properties = {
      ...meter.context.properties,
      xds: {
        cluster_name: metadata.backend,
        cluster_metadata: { filter_metadata: { "llm.breaker": metadata } },
      },
    };
    meter.requestHeaders(this.headers, this.body.length === 0);
    if (this.body.length > 0) meter.requestBody(this.body, true);
    return meter;
  }

  end(): void {
    this.#gate.endDownstream();
  }
}

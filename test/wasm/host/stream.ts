import { Action, BufferType, MapType, StreamType } from "./abi.js";
import type { HostContext, RequestScope } from "./context.js";
import type { HeaderMap } from "./header-map.js";
import type { Vm } from "./vm.js";

interface Direction {
  readonly headers: number;
  readonly body: number;
  readonly type: number;
  readonly name: "request" | "response";
}

const request: Direction = {
  headers: MapType.requestHeaders,
  body: BufferType.requestBody,
  type: StreamType.request,
  name: "request",
};
const response: Direction = {
  headers: MapType.responseHeaders,
  body: BufferType.responseBody,
  type: StreamType.response,
  name: "response",
};

/** One filter's share in one stream: runs its callbacks as Envoy does, and keeps what it holds back. */
export class Stream {
  readonly context: HostContext;
  /** Response bytes that the filter let pass. */
  readonly passed: Buffer[] = [];
  /** Request bytes that it let pass. */
  readonly sent: Buffer[] = [];
  readonly #vm: Vm;
  readonly #held = new Map<Direction, Buffer>();

  constructor(vm: Vm, root: HostContext, scope: RequestScope) {
    this.#vm = vm;
    this.context = vm.addContext(root, root.rootId, scope);
  }

  requestHeaders(headers: HeaderMap, endOfStream = false): number {
    return this.#headers(request, headers, endOfStream);
  }

  requestBody(chunk: string | Buffer, endOfStream = false): number {
    return this.#body(request, chunk, endOfStream);
  }

  responseHeaders(headers: HeaderMap, endOfStream = false): number {
    return this.#headers(response, headers, endOfStream);
  }

  responseBody(chunk: string | Buffer, endOfStream = false): number {
    return this.#body(response, chunk, endOfStream);
  }

  responseTrailers(): number {
    const action = this.#vm.call(this.context, "proxy_on_response_trailers", 0);
    if (action === Action.go) this.#letGo(response);
    return action;
  }

  /** Headers are with the filter: it held them, or their callback has not run. */
  get holdsResponse(): boolean {
    return this.context.maps.has(MapType.responseHeaders);
  }

  /** The stream's end at a downstream filter, with its access log entry. */
  endDownstream(): void {
    this.#vm.call(this.context, "proxy_on_log");
    this.endUpstream();
  }

  /** The end of an attempt: upstream filters get no log callback. */
  endUpstream(): void {
    this.#vm.call(this.context, "proxy_on_done");
    this.#vm.removeContext(this.context);
  }

  #headers(direction: Direction, headers: HeaderMap, endOfStream: boolean): number {
    this.context.maps.set(direction.headers, headers);
    const callback = `proxy_on_${direction.name}_headers`;
    const action = this.#vm.call(this.context, callback, headers.size, Number(endOfStream));
    if (action === Action.go) this.context.maps.delete(direction.headers);
    return action;
  }

  #body(direction: Direction, chunk: string | Buffer, endOfStream: boolean): number {
    const held = this.#held.get(direction) ?? Buffer.alloc(0);
    // What a filter holds it sees again, with the new chunk at its end.
    const bytes = Buffer.concat([held, Buffer.from(chunk)]);
    this.context.buffers.set(direction.body, bytes);
    const callback = `proxy_on_${direction.name}_body`;
    const action = this.#vm.call(this.context, callback, bytes.length, Number(endOfStream));
    const left = this.context.buffers.get(direction.body) ?? bytes;
    this.context.buffers.delete(direction.body);
    this.#held.set(direction, left);
    if (action === Action.go) this.#letGo(direction);
    return action;
  }

  #letGo(direction: Direction): void {
    const through = direction === response ? this.passed : this.sent;
    through.push(this.#held.get(direction) ?? Buffer.alloc(0));
    this.#held.delete(direction);
    this.context.maps.delete(direction.headers);
  }
}

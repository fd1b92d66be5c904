import { BufferType, MapType, StreamType } from "./abi.js";
import { HeaderMap } from "./header-map.js";
import type { PropertyTree } from "./properties.js";

export interface LocalReply {
  readonly status: number;
  readonly details: string;
  readonly body: Buffer;
  readonly headers: HeaderMap;
}

/** What all filters of one downstream request see, on each attempt. */
export class RequestScope {
  /** Without the `wasm.` that Envoy puts in front. */
  readonly filterState = new Map<string, Buffer>();
  properties: PropertyTree;

  constructor(properties: PropertyTree = {}) {
    this.properties = properties;
  }

  state(name: string): string | undefined {
    return this.filterState.get(name)?.toString("latin1");
  }
}

/** A root or a stream as the host keeps it; what a host call acts on. */
export class HostContext {
  readonly maps = new Map<number, HeaderMap>();
  readonly buffers = new Map<number, Buffer>();
  /** Seen by this filter only, such as the cluster of an attempt; wins over the scope's. */
  properties: PropertyTree = {};
  tickPeriodMs = 0;
  localReply: LocalReply | undefined;
  routeCacheClears = 0;
  readonly continued: number[] = [];
  readonly closed: number[] = [];

  constructor(
    readonly id: number,
    readonly root: HostContext | undefined,
    readonly rootId: string,
    readonly scope: RequestScope,
  ) {}

  get requestHeaders(): HeaderMap | undefined {
    return this.maps.get(MapType.requestHeaders);
  }

  get responseHeaders(): HeaderMap | undefined {
    return this.maps.get(MapType.responseHeaders);
  }

  /** Lets what was held go; its headers can then no longer be read. */
  continueStream(type: number): void {
    this.continued.push(type);
    const isRequest = type === StreamType.request;
    this.maps.delete(isRequest ? MapType.requestHeaders : MapType.responseHeaders);
    this.buffers.delete(isRequest ? BufferType.requestBody : BufferType.responseBody);
  }

  reply(status: number, details: string, body: Buffer, headers: Iterable<readonly [string, string]>): void {
    this.localReply = { status, details, body, headers: new HeaderMap(headers) };
  }
}

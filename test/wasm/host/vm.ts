import { Action, BufferType, MapType } from "./abi.js";
import { HostContext, RequestScope } from "./context.js";
import { GuestMemory } from "./guest-memory.js";
import { HeaderMap } from "./header-map.js";
import type { HttpCall } from "./http-call.js";
import { hostImports } from "./imports.js";
import type { World } from "./world.js";

/** The module trapped: in Envoy this cuts every stream of the worker. */
export class Trap extends Error {
  override name = "Trap";
}

export interface LogLine {
  readonly level: number;
  readonly text: string;
}

type Exported = (...args: number[]) => number | undefined;

/** One VM: the module's instance on one worker. */
export class Vm {
  readonly memory: GuestMemory;
  readonly logs: LogLine[] = [];
  /** Host calls made, by name. */
  readonly hostCalls = new Map<string, number>();
  /** How often memory grew, by the callback in which it did; "start" for the module's own start. */
  readonly growths = new Map<string, number>();
  readonly #contexts = new Map<number, HostContext>();
  readonly #exports: Record<string, Exported | undefined>;
  #nextContextId = 1;
  #current: HostContext | undefined;
  #effectiveId = 0;
  #stopsNext = false;

  constructor(readonly world: World) {
    const instance = new WebAssembly.Instance(world.module, hostImports(world.module, this));
    this.#exports = instance.exports as unknown as Record<string, Exported | undefined>;
    for (const needed of ["proxy_abi_version_0_2_1", "proxy_on_memory_allocate", "proxy_on_context_create"]) {
      if (!this.#exports[needed]) throw new Error(`the module does not export ${needed}`);
    }
    const memory = instance.exports.memory as WebAssembly.Memory;
    this.memory = new GuestMemory(memory, (size) => this.#exports.proxy_on_memory_allocate?.(size) ?? 0);
    (this.#exports._initialize ?? this.#exports._start)?.();
  }

  /** What a host call acts on: the context whose callback runs, unless the module chose another one. */
  get context(): HostContext {
    const effective = this.#contexts.get(this.#effectiveId);
    const context = effective ?? this.#current;
    if (!context) throw new Error("a host call outside of any callback");
    return context;
  }

  act(contextId: number): boolean {
    if (!this.#contexts.has(contextId)) return false;
    this.#effectiveId = contextId;
    return true;
  }

  /** A local reply makes the running callback's answer "hold", whatever it returns. */
  stopNext(): void {
    this.#stopsNext = true;
  }

  count(hostCall: string): void {
    this.hostCalls.set(hostCall, (this.hostCalls.get(hostCall) ?? 0) + 1);
  }

  get totalHostCalls(): number {
    return [...this.hostCalls.values()].reduce((sum, each) => sum + each, 0);
  }

  /** Runs a callback; callbacks may nest (a host call may lead to another callback on the same VM). */
  call(context: HostContext, callback: string, ...args: number[]): number {
    const exported = this.#exports[callback];
    if (!exported) return Action.go;
    const saved = { current: this.#current, effectiveId: this.#effectiveId, stopsNext: this.#stopsNext };
    const before = this.memory.byteLength;
    this.#current = context;
    this.#effectiveId = 0;
    this.#stopsNext = false;
    try {
      const result = exported(context.id, ...args) ?? 0;
      return this.#stopsNext ? Action.hold : result;
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      throw new Trap(`${callback}(${[context.id, ...args]}) trapped: ${error.message}`, { cause: error });
    } finally {
      if (this.memory.byteLength !== before)
        this.growths.set(callback, (this.growths.get(callback) ?? 0) + 1);
      this.#current = saved.current;
      this.#effectiveId = saved.effectiveId;
      this.#stopsNext = saved.stopsNext;
    }
  }

  /** A plugin as Envoy starts it. `configured` is false when the module refused the configuration. */
  addRoot(rootId: string, configuration: string | Buffer): { root: HostContext; configured: boolean } {
    const root = this.addContext(undefined, rootId, new RequestScope());
    const bytes = Buffer.from(configuration);
    root.buffers.set(BufferType.pluginConfiguration, bytes);
    const size = bytes.length;
    const started = this.call(root, "proxy_on_vm_start", 0) !== 0;
    const valid = started && this.call(root, "proxy_on_configure", size) !== 0;
    root.buffers.delete(BufferType.pluginConfiguration);
    return { root, configured: valid };
  }

  /** The plugin's last cluster, or listener, is gone. */
  removeRoot(root: HostContext): void {
    this.call(root, "proxy_on_done");
    this.removeContext(root);
  }

  addContext(root: HostContext | undefined, rootId: string, scope: RequestScope): HostContext {
    const context = new HostContext(this.#nextContextId++, root, rootId, scope);
    this.#contexts.set(context.id, context);
    this.call(context, "proxy_on_context_create", root?.id ?? 0);
    return context;
  }

  removeContext(context: HostContext): void {
    this.call(context, "proxy_on_delete");
    this.#contexts.delete(context.id);
  }

  tick(root: HostContext): void {
    this.call(root, "proxy_on_tick");
  }

  /** Answers a call that the module made. Without headers it is a call that got no answer. */
  answerHttpCall(
    call: HttpCall,
    headers?: Readonly<Record<string, string>>,
    body: string | Buffer = "",
  ): void {
    const map = new HeaderMap(headers);
    call.root.maps.set(MapType.callResponseHeaders, map);
    call.root.buffers.set(BufferType.callResponseBody, Buffer.from(body));
    this.call(call.root, "proxy_on_http_call_response", call.token, map.size, Buffer.byteLength(body), 0);
    call.root.maps.delete(MapType.callResponseHeaders);
    call.root.buffers.delete(BufferType.callResponseBody);
  }

  get liveContexts(): number {
    return this.#contexts.size;
  }
}

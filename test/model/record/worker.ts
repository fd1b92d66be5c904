import type { SharedStore } from "../../wasm/host/shared-store.js";
import { type Layout, readLayout } from "./layout.js";

/** What test/filter/records-module.ts exports. */
export interface RecordCalls {
  restart(seed: number): void;
  orders(mode: number, rampShare: number, isClosingHeld: number): void;
  createRecord(): void;
  look(now: number, random: number): number;
  generation(): number;
  acquireCanary(now: number, isIdle: number): number;
  fileOutcome(
    now: number,
    generation: number,
    permit: number,
    outcome: number,
    weight: number,
    retryAfterMs: number,
  ): number;
  noteSuccess(generation: number): void;
  flushSuccesses(now: number): void;
  fileFirstTokens(now: number, generation: number, calls: number, slow: number): void;
  releasePermit(now: number, permit: number): void;
  renewPermit(now: number, permit: number): void;
  acquireProbe(now: number, owner: number): number;
  fileProbe(now: number, owner: number, success: number): void;
  abandonProbe(now: number, owner: number): void;
  closeIfReady(now: number): void;
  applyMove(
    now: number,
    version: number,
    expectedGeneration: number,
    to: number,
    stage: number,
    openings: number,
    waitMs: number,
    cause: number,
    isForAll: number,
  ): void;
}

interface Exports extends RecordCalls {
  readonly memory: WebAssembly.Memory;
  proxy_on_memory_allocate(size: number): number;
  configure(at: number, size: number): number;
  layout(): number;
}

/** What the workers of a process share: the store, the clock, and the gauge of filter/steady.ts. */
export interface Process {
  readonly store: SharedStore;
  readonly nowMs: number;
  readSteadiness(): number;
  tellSteadiness(told: number): void;
}

/** One worker's instance of the records module, and the few host calls that it makes. */
export class RecordWorker {
  readonly calls: RecordCalls;
  readonly layout: Layout;
  readonly #exports: Exports;
  readonly #keys = new Map<number, string>();
  #bytes = new Uint8Array();
  #view = new DataView(new ArrayBuffer(0));

  constructor(
    module: WebAssembly.Module,
    readonly process: () => Process,
    policy: string,
  ) {
    const instance = new WebAssembly.Instance(module, this.#imports());
    this.#exports = instance.exports as unknown as Exports;
    this.calls = this.#exports;
    const text = Buffer.from(policy);
    const at = this.#exports.proxy_on_memory_allocate(text.length);
    this.#refresh().set(text, at);
    if (!this.#exports.configure(at, text.length)) throw new Error(`no policy: ${policy}`);
    this.layout = readLayout(this.#exports.memory.buffer, this.#exports.layout());
  }

  #imports(): WebAssembly.Imports {
    const ignored = (): number => 0;
    return {
      env: {
        proxy_get_shared_data: this.#getShared,
        proxy_set_shared_data: this.#setShared,
        proxy_log: ignored,
        proxy_get_property: () => 1,
        proxy_get_metric: (_id: number, at: number) => {
          const told = this.process().readSteadiness();
          this.#refresh();
          this.#view.setBigUint64(at, BigInt(told), true);
          return 0;
        },
        proxy_record_metric: (_id: number, told: bigint) => {
          this.process().tellSteadiness(Number(told));
          return 0;
        },
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_id: number, _precision: bigint, at: number) => {
          this.#refresh();
          this.#view.setBigUint64(at, BigInt(this.process().nowMs) * 1_000_000n, true);
          return 0;
        },
        random_get: ignored,
      },
    };
  }

  readonly #getShared = (
    key: number,
    keySize: number,
    valueOut: number,
    sizeOut: number,
    casOut: number,
  ): number => {
    // Other workers run in here.
    const found = this.process().store.get(this.#keyAt(key, keySize));
    if (!found) return 1;
    const at = this.#exports.proxy_on_memory_allocate(found.value.length);
    if (at === 0) return 6;
    this.#refresh().set(found.value, at);
    this.#view.setUint32(valueOut, at, true);
    this.#view.setUint32(sizeOut, found.value.length, true);
    this.#view.setUint32(casOut, found.cas, true);
    return 0;
  };

  readonly #setShared = (key: number, keySize: number, at: number, size: number, cas: number): number => {
    const name = this.#keyAt(key, keySize);
    const value = Buffer.from(this.#refresh().buffer, at, size) as Buffer;
    return this.process().store.set(name, value, cas >>> 0);
  };

  /** Keys are texts that the module made once. */
  #keyAt(at: number, size: number): string {
    const known = this.#keys.get(at);
    if (known) return known;
    const key = Buffer.from(this.#refresh().subarray(at, at + size)).toString("latin1");
    this.#keys.set(at, key);
    return key;
  }

  /** Memory that grew has another buffer. */
  #refresh(): Uint8Array<ArrayBuffer> {
    const { buffer } = this.#exports.memory;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#view = new DataView(buffer);
    }
    return this.#bytes as Uint8Array<ArrayBuffer>;
  }
}

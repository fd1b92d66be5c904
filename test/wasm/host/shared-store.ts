import { Status } from "./abi.js";

export interface Shared {
  readonly value: Buffer;
  readonly cas: number;
}

/** Envoy's shared data of one vm_id: what all workers of a process see. Semantics of proxy-wasm-cpp-host's SharedData. */
export class SharedStore {
  readonly #values = new Map<string, Shared>();
  #nextCas = 1;
  /** Runs after a value was read and before its reader goes on: the moment in which another worker may write. */
  afterGet: ((key: string) => void) | undefined;
  /** Whether to refuse this write as if somebody else had been faster. */
  refuses: ((key: string) => boolean) | undefined;
  mismatches = 0;

  get(key: string): Shared | undefined {
    const found = this.#values.get(key);
    this.afterGet?.(key);
    return found;
  }

  /** Without the hooks. */
  peek(key: string): Buffer | undefined {
    return this.#values.get(key)?.value;
  }

  /** CAS 0 writes without a check; so does any CAS when the key is absent. */
  set(key: string, value: Buffer, cas: number): number {
    const existing = this.#values.get(key);
    const lost = existing !== undefined && cas !== 0 && cas !== existing.cas;
    if (lost || (existing && this.refuses?.(key))) {
      this.mismatches++;
      return Status.casMismatch;
    }
    this.#values.set(key, { value: Buffer.from(value), cas: this.#nextCas++ });
    return Status.ok;
  }

  get keys(): string[] {
    return [...this.#values.keys()];
  }
}

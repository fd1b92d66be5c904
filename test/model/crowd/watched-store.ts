import { Status } from "../../wasm/host/abi.js";
import { SharedStore } from "../../wasm/host/shared-store.js";

export const recordKey = "llm.breaker/backend/gpu";

/** Shared data that tells of each write of the record, and of each that was refused. */
export class WatchedStore extends SharedStore {
  onWrite: ((before: Buffer, after: Buffer) => void) | undefined;
  onRefused: (() => void) | undefined;

  override set(key: string, value: Buffer, cas: number): number {
    const before = this.peek(key);
    const status = this.write(key, value, cas);
    if (key !== recordKey || before === undefined) return status;
    if (status !== Status.ok) this.onRefused?.();
    else this.onWrite?.(before, this.peek(key) ?? value);
    return status;
  }

  /** What a broken store does otherwise. */
  protected write(key: string, value: Buffer, cas: number): number {
    return super.set(key, value, cas);
  }
}

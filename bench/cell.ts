import { cpuNanoseconds } from "./cpu-time.js";
import { Caller, type LoadSettings } from "./load/caller.js";

const settleMs = 30;

/** One thing that is measured: a load through one Envoy. */
export class Cell {
  readonly name: string;
  /** Envoy's CPU time a request, in microseconds, one figure a block. */
  readonly blocks: number[] = [];
  readonly #pid: number;
  readonly #caller: Caller;
  readonly #backgroundShare: () => number;
  #sent = 0;

  /** `backgroundShare`: CPUs that the Envoy uses without any load, to be taken off. */
  constructor(name: string, pid: number, load: LoadSettings, backgroundShare: () => number = () => 0) {
    this.name = name;
    this.#pid = pid;
    this.#caller = new Caller(load);
    this.#backgroundShare = backgroundShare;
  }

  get requests(): number {
    return this.#sent;
  }

  /** Data pieces that passed through Envoy's filters for each answer; of chunked answers only. */
  get piecesPerAnswer(): number {
    return this.#caller.chunks / this.#sent;
  }

  /** Fills connection pools and lets V8 compile the hot code for good. */
  async warmUp(count: number): Promise<void> {
    await this.#caller.send(count);
    this.#sent += count;
  }

  async measure(count: number): Promise<number> {
    const share = this.#backgroundShare();
    const startMs = performance.now();
    const before = cpuNanoseconds(this.#pid);
    await this.#caller.send(count);
    const elapsedMs = performance.now() - startMs;
    // What Envoy does after an answer's last byte belongs to the request as well.
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const used = cpuNanoseconds(this.#pid) - before;
    this.#sent += count;
    const us = (used / 1e3 - share * (elapsedMs + settleMs) * 1e3) / count;
    this.blocks.push(us);
    return us;
  }

  close(): void {
    this.#caller.close();
  }
}

/** CPUs that a process uses over `periodMs`: 0.01 is one per cent of one CPU. */
export async function cpuShare(pid: number, periodMs: number): Promise<number> {
  const startMs = performance.now();
  const before = cpuNanoseconds(pid);
  await new Promise((resolve) => setTimeout(resolve, periodMs));
  return (cpuNanoseconds(pid) - before) / 1e6 / (performance.now() - startMs);
}

/** How a request ended at the backend, as the backend saw it. */
export type Outcome = "running" | "complete" | "error" | "cut" | "clientLeft";

/** One request as it reached a backend. Times are monotonic ms. */
export interface Arrival {
  readonly id: number;
  readonly backend: string;
  readonly atMs: number;
  readonly wallMs: number;
  readonly path: string;
  /** The `user` field, by which a caller's record is matched; "" when absent. */
  user: string;
  streamed: boolean;
  /** -1 until the body was read and counted. */
  promptTokens: number;
  /** 0 = not asked for. */
  maxTokens: number;
  probe: boolean;
  outcome: Outcome;
  status: number;
  /** Requests in flight at this backend when this one arrived, itself included. */
  readonly concurrency: number;
  /** Taken before the last byte is handed to the socket, so that nobody can react to the end before it; 0 = running. */
  endMs: number;
}

/** The arrivals at one backend, newest last; the oldest are dropped above `capacity`, totals never are. */
export class ArrivalLog {
  readonly #entries: Arrival[] = [];
  readonly #capacity: number;
  total = 0;
  probes = 0;
  running = 0;
  peak = 0;

  constructor(capacity = 50_000) {
    this.#capacity = capacity;
  }

  open(backend: string, path: string, atMs: number, wallMs: number): Arrival {
    this.running++;
    this.peak = Math.max(this.peak, this.running);
    const arrival: Arrival = {
      id: this.total++,
      backend,
      atMs,
      wallMs,
      path,
      user: "",
      streamed: false,
      promptTokens: -1,
      maxTokens: 0,
      probe: false,
      outcome: "running",
      status: 0,
      concurrency: this.running,
      endMs: 0,
    };
    this.#entries.push(arrival);
    if (this.#entries.length > this.#capacity) this.#entries.shift();
    return arrival;
  }

  /** Files the end, once; later calls change nothing (a finished answer's socket also closes). */
  close(arrival: Arrival, outcome: Exclude<Outcome, "running">, status: number, endMs: number): void {
    if (arrival.outcome !== "running") return;
    this.running--;
    arrival.outcome = outcome;
    arrival.status = status;
    arrival.endMs = endMs;
  }

  list(): readonly Arrival[] {
    return this.#entries;
  }
}

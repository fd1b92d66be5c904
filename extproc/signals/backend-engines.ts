import type { Logger } from "pino";
import type { Signals } from "../sync/contract.js";
import type { Endpoint } from "./endpoint.js";
import type { EndpointFinder, Found } from "./endpoint-finder.js";
import { Engine } from "./engine.js";
import type { Page } from "./page-reader.js";
import type { TokenFile } from "./token-file.js";

export interface Parts {
  readonly finder: Pick<EndpointFinder, "find">;
  readonly open: (endpoint: Endpoint) => Page;
  readonly token: TokenFile | undefined;
  /** Where in the period the next engine is asked, so that not all are asked at once. */
  readonly nextSlot: () => number;
  readonly now: () => number;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** All engines of one backend, as they are found, and what they tell together. */
export class BackendEngines {
  private readonly engines = new Map<string, Engine>();
  private isFinding = false;
  private isClosed = false;
  private problem: string | undefined;
  private lastReadMs: number;

  constructor(
    private readonly longQueue: number,
    private readonly parts: Parts,
  ) {
    this.lastReadMs = parts.now();
  }

  /** Looks where the engines are, unless that is under way. */
  async find(): Promise<void> {
    if (this.isFinding || this.isClosed) return;
    this.isFinding = true;
    try {
      const found = await this.parts.finder.find();
      if (!this.isClosed) this.take(found);
    } finally {
      this.isFinding = false;
    }
  }

  /** Asks the engines of that slot. */
  ask(slot: number, timeLimitMs: number): void {
    for (const engine of this.engines.values()) {
      if (engine.slot === slot) void engine.ask(timeLimitMs, () => this.findToken());
    }
  }

  /** Engines that answer count; where one was read, it is fresh. */
  signals(): Signals {
    const now = this.parts.now();
    const windows = [...this.engines.values()].map(({ window }) => window);
    const use = worstOf(windows.map((window) => window.kvCacheUse(now)));
    const waiting = worstOf(windows.map((window) => window.waiting(now)));
    return {
      isFresh: windows.some((window) => window.isFresh(now)),
      // One engine without a hole is enough: one that comes and goes must not keep its backend from closing for ever.
      isWhole: windows.some((window) => window.isWhole(now)),
      isQueueLong: waiting !== undefined && waiting >= this.longQueue,
      ...(use === undefined ? {} : { kvCacheUse: use }),
      ...(waiting === undefined ? {} : { waiting }),
    };
  }

  /** Since any engine's page was read last; from the beginning while none was. */
  ageMs(): number {
    this.keepLastRead();
    return this.parts.now() - this.lastReadMs;
  }

  close(): void {
    this.isClosed = true;
    for (const engine of this.engines.values()) engine.close();
    this.engines.clear();
  }

  /** Also of engines that are about to be forgotten. */
  private keepLastRead(): void {
    for (const { window } of this.engines.values())
      this.lastReadMs = Math.max(this.lastReadMs, window.lastReadMs);
  }

  private async findToken(): Promise<string | undefined> {
    return this.parts.token?.read();
  }

  private take({ endpoints, problem }: Found): void {
    const { log, open, now, nextSlot } = this.parts;
    if (problem !== undefined && this.problem === undefined) log.warn(`where engines are: ${problem}`);
    if (problem === undefined && this.problem !== undefined) log.info("where engines are is known again");
    this.problem = problem;
    this.keepLastRead();
    const names = new Set(endpoints.map(({ name }) => name));
    for (const [name, engine] of this.engines) {
      if (names.has(name)) continue;
      engine.close();
      this.engines.delete(name);
    }
    for (const endpoint of endpoints) {
      const engine = this.engines.get(endpoint.name);
      if (engine === undefined) {
        this.engines.set(endpoint.name, new Engine(endpoint, open(endpoint), nextSlot(), log, now));
      } else if (!engine.isAt(endpoint)) {
        engine.moveTo(endpoint, open(endpoint));
      }
    }
  }
}

function worstOf(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

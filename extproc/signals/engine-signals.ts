import type { Logger } from "pino";
import type { Advice, Advisor, BackendReport, Gateway, Signals } from "../sync/contract.js";
import { BackendEngines } from "./backend-engines.js";
import { type Dns, systemDns } from "./dns.js";
import type { Endpoint } from "./endpoint.js";
import { EndpointFinder } from "./endpoint-finder.js";
import { type Page, PageReader } from "./page-reader.js";
import type { SignalsSettings } from "./settings.js";
import { TokenFile } from "./token-file.js";

const FIND_AGAIN_AFTER_MS = 5_000;
/** The period is cut into so many slots, over which the engines are spread. */
const SLOTS = 20;

/** What tests replace. */
export interface SignalsParts {
  readonly now?: () => number;
  readonly dns?: Dns;
  readonly open?: (endpoint: Endpoint) => Page;
}

/** Asks the engines how they do, and advises gateways by it. Nothing waits for a page, and one that hangs is not asked twice. */
export class EngineSignals implements Advisor {
  private readonly backends = new Map<string, BackendEngines>();
  private readonly dns: Dns;
  private readonly now: () => number;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly startedAtMs: number;
  private slotsDone = 0;

  constructor(
    private readonly settings: SignalsSettings,
    log: Logger,
    {
      now = () => performance.now(),
      dns = systemDns(),
      open = (at) => new PageReader(at),
    }: SignalsParts = {},
  ) {
    this.now = now;
    this.dns = dns;
    this.startedAtMs = now();
    let engines = 0;
    const nextSlot = () => engines++ % SLOTS;
    for (const [name, backend] of Object.entries(settings.backends)) {
      const { bearerTokenFile, longQueue } = backend;
      const token = bearerTokenFile === undefined ? undefined : new TokenFile(bearerTokenFile, now);
      const finder = new EndpointFinder(backend, dns);
      const parts = { finder, open, token, nextSlot, now, log: log.child({ backend: name }) };
      this.backends.set(name, new BackendEngines(longQueue, parts));
    }
  }

  start(): this {
    if (this.backends.size === 0) return this;
    void this.find();
    this.timers.push(setInterval(() => void this.find(), FIND_AGAIN_AFTER_MS).unref());
    this.timers.push(setInterval(() => this.ask(), this.settings.period / SLOTS).unref());
    return this;
  }

  advise(_gateway: Gateway, { name }: Pick<BackendReport, "name">): Advice {
    const signals = this.of(name);
    return signals === undefined ? {} : { signals };
  }

  /** What the engines of that backend tell; undefined when it has no signals. */
  of(name: string): Signals | undefined {
    return this.backends.get(name)?.signals();
  }

  /** The backends that have signals. */
  get names(): readonly string[] {
    return [...this.backends.keys()];
  }

  /** Since each backend's engines were heard last. */
  ages(): (readonly [backend: string, ageMs: number])[] {
    return [...this.backends].map(([name, engines]) => [name, engines.ageMs()] as const);
  }

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
    for (const backend of this.backends.values()) backend.close();
    this.dns.close();
  }

  /** Looks where all engines are. */
  async find(): Promise<void> {
    await Promise.all([...this.backends.values()].map((backend) => backend.find()));
  }

  /** Asks those whose slots have begun since the last time; after a pause nobody twice. */
  ask(): void {
    const { period } = this.settings;
    const begun = Math.floor((this.now() - this.startedAtMs) / (period / SLOTS)) + 1;
    const first = Math.max(this.slotsDone, begun - SLOTS);
    this.slotsDone = Math.max(begun, this.slotsDone);
    for (let slot = first; slot < begun; slot++) {
      for (const backend of this.backends.values()) {
        backend.ask(slot % SLOTS, period);
      }
    }
  }
}

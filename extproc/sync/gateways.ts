import type { Logger } from "pino";
import { NO_COUNTERS } from "./blank.js";
import type {
  Advice,
  Advisor,
  BackendReport,
  Chain,
  Counters,
  Directive,
  Gateway,
  SyncRequest,
  SyncResponse,
  Transition,
} from "./contract.js";
import { type BackendView, Member, type Taken } from "./member.js";
import type { RecordedSecond } from "./second-ring.js";
import { SecondRings } from "./second-rings.js";
import { Summaries } from "./summaries.js";
import { type Total, Totals } from "./totals.js";

const SILENT_AFTER_MS = 3_000;
/** A silent one is remembered for so long, so that what it sends again when it comes back counts once. */
const REMEMBERED_MS = 120_000;
const MOST_GATEWAYS = 64;
/** Of one gateway, and of all together where they are kept by name. */
const MOST_BACKENDS = 512;
const FAULT_PERIOD_MS = 10_000;
const BUSY_MS = 250;
const CALM_MS = 1_000;
/** Seconds begin by Envoy's clock and come with a request's delay: one that begins so soon after another is the same. */
const SAME_SECOND_MS = 500;

/** What is said to be older is a clock's mistake, and may be more than a date can hold. */
const OLDEST_MS = 31_536_000_000;

export interface GatewaysParts {
  /** Asked anew each time, since a reload exchanges some. Of two that have the same to say, the first is heard. */
  readonly advisors: () => readonly Advisor[];
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow?: () => number;
}

/** A gateway that was heard within the last seconds, as it then was. */
export interface LiveGateway extends Gateway {
  readonly policyHash: string;
  /** Since its last report. */
  readonly silentMs: number;
  /** Its policy's. */
  readonly chains: readonly Chain[];
  readonly backends: ReadonlyMap<string, BackendView>;
}

/** One transition of a backend at one gateway. */
export interface GatewayTransition {
  readonly gateway: Gateway;
  readonly backend: string;
  readonly transition: Transition;
  /** Milliseconds since 1970, by this service's clock. */
  readonly atMs: number;
}

export type TransitionListener = (happened: GatewayTransition) => void;

/** `before` is what the process told last, or what it had counted when it started. */
export type CountListener = (backend: string, counters: Counters, before: Counters) => void;

/** All gateways that sync with this service: what they told last, and what advisors have to tell them. */
export class Gateways {
  private readonly advisors: () => readonly Advisor[];
  private readonly log: Pick<Logger, "info" | "warn" | "error">;
  private readonly now: () => number;
  private readonly wallNow: () => number;
  private readonly listeners = new Set<TransitionListener>();
  private readonly countListeners = new Set<CountListener>();
  /** By process and policy; longest unheard first. */
  private readonly members = new Map<string, Member>();
  private readonly summaries = new Summaries(MOST_GATEWAYS * MOST_BACKENDS);
  private readonly rings = new SecondRings(MOST_BACKENDS);
  private readonly sums = new Totals(2 * MOST_BACKENDS);
  private isFull = false;
  private nextFaultMs = 0;

  constructor({ advisors, log, now, wallNow }: GatewaysParts) {
    this.advisors = advisors;
    this.log = log;
    this.now = now ?? (() => performance.now());
    this.wallNow = wallNow ?? Date.now;
  }

  /** Live gateways. */
  list(): LiveGateway[] {
    const now = this.now();
    return this.live().map(({ gateway, policyHash, heardAtMs, chains, backends }) => ({
      ...gateway,
      policyHash,
      silentMs: now - heardAtMs,
      chains,
      backends,
    }));
  }

  /** The last hour of a backend, oldest first; empty for one that nobody reported. */
  secondsOf(backend: string): RecordedSecond[] {
    return this.rings.list(backend, this.now(), this.wallNow());
  }

  /** Called with each transition when it becomes known, once; the answer ends it. */
  onTransition(listener: TransitionListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Called with each report whose counters tell what is new; the answer ends it. */
  onCounted(listener: CountListener): () => void {
    this.countListeners.add(listener);
    return () => this.countListeners.delete(listener);
  }

  /** What was counted since this service started, by policy and backend. */
  totals(): Iterable<Total> {
    return this.sums.list();
  }

  /** Takes in what a gateway tells, unless it is older than what it told before, and answers it. */
  exchange(request: SyncRequest): SyncResponse {
    const now = this.now();
    this.sweep();
    const { sequence } = request;
    const member = this.memberFor(request);
    if (member === undefined) return { sequence, directives: [], nextMs: CALM_MS };
    if (member.hear(request, now)) this.takeIn(member, request, now);
    const directives = member.isLive ? this.directivesFor(member, request, now) : [];
    return { sequence, directives, nextMs: this.isBusy() ? BUSY_MS : CALM_MS };
  }

  /** Lets go of gateways that are silent. Called from time to time, also when nobody syncs. */
  sweep(): void {
    const now = this.now();
    for (const [key, member] of this.members) {
      const silentForMs = now - member.heardAtMs;
      if (silentForMs < SILENT_AFTER_MS) return;
      if (member.isLive) this.forget(member);
      if (silentForMs >= REMEMBERED_MS) this.members.delete(key);
    }
  }

  /** Undefined when there is no room for it. */
  private memberFor({ process, node, policy, asksRestore }: SyncRequest): Member | undefined {
    const key = keyOf(process, policy);
    const known = this.members.get(key);
    if (known?.isLive) return known;
    if (this.live().length >= MOST_GATEWAYS) {
      if (!this.isFull)
        this.log.warn({ most: MOST_GATEWAYS }, "too many gateways sync here: some are told nothing");
      this.isFull = true;
      return undefined;
    }
    const member = known ?? new Member({ process, node, policy }, asksRestore);
    this.log.info(member.gateway, "gateway syncs");
    return member;
  }

  private takeIn(member: Member, request: SyncRequest, now: number): void {
    const { gateway } = member;
    const key = keyOf(gateway.process, gateway.policy);
    this.members.delete(key);
    this.members.set(key, member);
    this.dropOldest();
    for (const report of request.backends) {
      const taken = member.takenOf(report.name, MOST_BACKENDS);
      if (taken !== undefined) this.takeInReport(member, report, taken, now);
      // What has just started knows less than what was kept for it, until it has moved by itself.
      if (!request.asksRestore || report.generation > 1) this.summaries.put(gateway, report, now);
    }
    const reports = member.reports();
    for (const advisor of this.advisors()) this.guard(() => advisor.observe?.(gateway, reports));
  }

  private takeInReport(
    { gateway, isNewProcess }: Member,
    report: BackendReport,
    taken: Taken,
    now: number,
  ): void {
    const { policy } = gateway;
    const isFirst = taken.counters === undefined;
    const before = taken.counters ?? (isNewProcess ? NO_COUNTERS : undefined);
    this.sums.add(policy, report.name, report.counters, before, now);
    taken.counters = report.counters;
    if (before !== undefined)
      for (const listener of this.countListeners) listener(report.name, report.counters, before);
    for (const transition of report.transitions) {
      if (transition.generation <= taken.generation) continue;
      taken.generation = transition.generation;
      this.tell({
        gateway,
        backend: report.name,
        transition,
        atMs: this.wallNow() - Math.min(transition.ageMs, OLDEST_MS),
      });
      // What a service before us was told of is told once more, but not counted again.
      if (!isFirst || isNewProcess) this.sums.addTransition(policy, report.name, transition.cause);
    }
    for (const second of report.seconds) {
      const atMs = now - second.ageMs;
      if (atMs < taken.secondAtMs + SAME_SECOND_MS) continue;
      taken.secondAtMs = atMs;
      this.rings.add(report.name, atMs, second, now);
    }
  }

  private tell(happened: GatewayTransition): void {
    for (const listener of this.listeners) listener(happened);
  }

  private directivesFor(member: Member, request: SyncRequest, now: number): Directive[] {
    const advisors = this.advisors();
    const asksRestore = request.asksRestore && this.isOneOfItsName(member);
    return request.backends.flatMap(({ name }) => {
      const report = member.backends.get(name)?.report;
      if (report === undefined) return [];
      const advice = this.ask(advisors, member.gateway, report);
      member.advise(name, advice);
      const summary = asksRestore ? this.summaries.find(member.gateway, name, now) : undefined;
      return [{ name, acknowledgedGeneration: report.generation, ...advice, ...(summary && { summary }) }];
    });
  }

  /** Each field by the first advisor that has it. */
  private ask(advisors: readonly Advisor[], gateway: Gateway, report: BackendReport): Advice {
    const advice = advisors.map((advisor) => this.guard(() => advisor.advise(gateway, report)));
    return Object.assign({}, ...advice.reverse());
  }

  /** A fault of one advisor must not cost a gateway the service and all others' words. */
  private guard<Result>(call: () => Result): Result | undefined {
    try {
      return call();
    } catch (err) {
      const now = this.now();
      if (now < this.nextFaultMs) return undefined;
      this.nextFaultMs = now + FAULT_PERIOD_MS;
      this.log.error({ err }, "an advisor of gateways has failed");
      return undefined;
    }
  }

  /**
   * Where several live gateways have one name nobody can say whose successor a new one is. One may be its predecessor, whose
   * death is not known yet.
   */
  private isOneOfItsName({ gateway }: Member): boolean {
    const others = this.live().filter(
      (other) => other.gateway.node === gateway.node && other.gateway.policy === gateway.policy,
    );
    return others.length <= 2;
  }

  private live(): Member[] {
    return [...this.members.values()].filter(({ isLive }) => isLive);
  }

  private isBusy(): boolean {
    return this.advisors().some(({ isBusy }) => isBusy === true);
  }

  private forget(member: Member): void {
    member.leave();
    this.isFull = false;
    this.log.info(member.gateway, "gateway is silent");
    for (const advisor of this.advisors()) this.guard(() => advisor.forget?.(member.gateway));
  }

  /** The one unheard for longest is silent: live ones are fewer. */
  private dropOldest(): void {
    if (this.members.size <= 2 * MOST_GATEWAYS) return;
    for (const oldest of this.members.keys()) return void this.members.delete(oldest);
  }
}

function keyOf(process: string, policy: string): string {
  return JSON.stringify([process, policy]);
}

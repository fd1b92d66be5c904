import type { Advice, BackendReport } from "../sync/contract.js";
import { Lease, type LeaseGround, orderOf } from "./lease.js";
import { isMoving } from "./local-gateway.js";
import { LocalGateways } from "./local-gateways.js";
import type { Members } from "./members.js";
import type { BackendView, GatewayView, Register } from "./message.js";
import { moveFor } from "./moves.js";
import { longerWait, newsOf } from "./news.js";
import { Ramp } from "./ramp.js";
import { roundOf, versionOf } from "./version.js";
import { mayVote, votersOf } from "./voters.js";
import { heardWord, type News, toldWord, type Word, waitLeft } from "./word.js";

/** A majority that lasts no longer is one of messages that were late. */
const STEADY_MS = 300;
/** What has just changed is told and asked for sooner. */
const NEWS_MS = 2000;
/** What nothing hurries with. */
const LEAD_EVERY_MS = 200;
/** A word that no gateway goes by any more. */
const FORGOTTEN_MS = 10_000;
/** Until then a service that has just begun may not know of gateways that are gone. */
const COMPLETE_MS = 36_000;

export interface GroupParts {
  readonly now: () => number;
  readonly self: string;
  readonly author: number;
  readonly startedAtMs: number;
  readonly members: Members;
}

/** How a backend's live gateways stand: by weight. */
export interface Evidence {
  readonly live: number;
  readonly evidence: number;
}

/** One backend in the group: the word on it, the gateways that sync here, and the prober's lease. */
export class BackendGroup {
  private word: Word | undefined;
  private readonly locals = new LocalGateways();
  private readonly lease = new Lease();
  private readonly ramp = new Ramp();
  private majoritySinceMs: number | undefined;
  private ledAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly name: string,
    private readonly parts: GroupParts,
  ) {
    for (const { backends } of parts.members.all()) this.hear(backends.get(name)?.view.register);
  }

  get current(): Word | undefined {
    return this.word;
  }

  get isLeaseHeld(): boolean {
    return this.lease.isHeld;
  }

  get gatewayCount(): number {
    return this.locals.size;
  }

  take(process: string, report: BackendReport): void {
    this.locals.take(process, report, this.parts.now());
  }

  prune(): void {
    this.locals.prune(this.parts.now());
  }

  /** Looks whether a gateway has done something that the group has to hear of; true when it has. */
  judge(process: string): boolean {
    const now = this.parts.now();
    const gateway = this.locals.get(process);
    if (!gateway?.isLive(now)) return false;
    const { generation, cause } = gateway.report;
    const isFirst = gateway.handledGeneration === undefined;
    const isNew = gateway.handledGeneration !== generation;
    gateway.handledGeneration = generation;
    if (isNew && (cause === "PROBE_SUCCEEDED" || cause === "PROBE_FAILED")) this.lease.end(process);
    const news = isNew ? newsOf(gateway, this.word, isFirst, now) : undefined;
    const told = news ?? (this.word && longerWait(gateway, this.word, now));
    if (told) this.say(told, gateway.report.stageCap);
    return told !== undefined;
  }

  /** Takes a word that another member knows; true when it is a newer one. */
  hear(register: Register | undefined): boolean {
    if (register === undefined || register.version <= (this.word?.version ?? 0)) return false;
    this.adopt(heardWord(register, this.parts.now()));
    return true;
  }

  reset(): void {
    this.say({ phase: "CLOSED", stage: 0, openings: 0, waitMs: 0, cause: "OPERATOR_RESET" }, 0);
  }

  /** Everything that time and others' messages bring about; true when others should hear of it. */
  step(): boolean {
    if (this.word === undefined || this.word.phase === "CLOSED") this.majoritySinceMs = undefined;
    else this.watchMajority();
    const isLeaseWanted = this.isDue() || this.lease.isActive;
    const isLeaseChanged = isLeaseWanted && this.lease.step(this.leaseGround());
    return this.lead() || isLeaseChanged;
  }

  advise(process: string, isListening: boolean): Advice {
    const now = this.parts.now();
    const gateway = this.locals.get(process);
    const { live, evidence } = this.evidence();
    if (gateway === undefined) return {};
    const word = this.word;
    if (isListening || word === undefined) return { group: { mayProbeMs: 0, rampShare: 0, live, evidence } };
    const isForAll = this.majoritySinceMs !== undefined && now - this.majoritySinceMs >= STEADY_MS;
    const move = moveFor(gateway, word, isForAll, now);
    const isAsked = gateway.isLive(now) && gateway.report.track >= word.version && !gateway.isProbing(now);
    const mayProbeMs = isAsked ? this.lease.mayProbeMs(process, word.version, now) : 0;
    const rampShare = isMoving(gateway.report.mode) ? this.ramp.usable(word, process, now) : 0;
    return { group: { mayProbeMs, rampShare, live, evidence }, ...(move && { move }) };
  }

  /** Only an operator's reset concerns a gateway that stands alone. */
  adviseAlone(process: string): Advice {
    const gateway = this.locals.get(process);
    const now = this.parts.now();
    if (!gateway || this.word?.cause !== "OPERATOR_RESET" || now - this.word.heardAtMs > FORGOTTEN_MS)
      return {};
    const move = moveFor(gateway, this.word, false, now);
    return move ? { move } : {};
  }

  view(): BackendView {
    const now = this.parts.now();
    const { ask, grant } = this.lease;
    return {
      name: this.name,
      weight: this.locals.weight(now),
      ...(this.word && { register: toldWord(this.word, now) }),
      gateways: this.locals
        .views(now)
        .filter(({ state, livePermits }) => state !== "CLOSED" || livePermits > 0),
      readiness: this.isDue() ? this.lease.readiness(this.leaseGround()) : "NONE",
      isProbing: this.locals.isProbing(now),
      ...(ask && { ask }),
      ...(grant && { grant }),
    };
  }

  /** What counts for the majority. After CLOSED nothing is evidence but a new opening, and that makes a new word. */
  evidence(): Evidence {
    const now = this.parts.now();
    const isOver = this.word === undefined || this.word.phase === "CLOSED";
    let live = this.locals.weight(now);
    let evidence = isOver ? 0 : evidenceIn(this.locals.views(now));
    for (const { backends } of this.parts.members.live(now)) {
      const view = backends.get(this.name)?.view;
      live += view?.weight ?? 0;
      if (!isOver) evidence += evidenceIn(view?.gateways ?? []);
    }
    return { live, evidence: Math.min(evidence, live) };
  }

  get isBusy(): boolean {
    const word = this.word;
    if (word === undefined) return false;
    const now = this.parts.now();
    const isNew = now - word.heardAtMs < NEWS_MS;
    if (word.phase === "CLOSED") return isNew;
    const isContested = this.majoritySinceMs === undefined && this.evidence().evidence > 0;
    return isNew || this.isDue() || isContested || word.phase === "HALF_OPEN" || this.lease.isActive;
  }

  private watchMajority(): void {
    const { live, evidence } = this.evidence();
    if (evidence * 2 <= live) this.majoritySinceMs = undefined;
    else this.majoritySinceMs ??= this.parts.now();
  }

  /** One of the members keeps the ramp going: the first in rank of those whose gateways are concerned. */
  private lead(): boolean {
    const word = this.word;
    const now = this.parts.now();
    if (word === undefined || word.phase === "CLOSED" || now - this.ledAtMs < LEAD_EVERY_MS) return false;
    this.ledAtMs = now;
    const age = now - word.heardAtMs;
    const views = this.allViews();
    const concerned = [...views.values()].some(({ state, isSilent }) => state !== "CLOSED" && !isSilent);
    if (!this.isLeader(word, concerned)) return false;
    if (!concerned) return age >= FORGOTTEN_MS && this.say(closed(), 0);
    if (word.phase !== "HALF_OPEN") return false;
    const next = this.ramp.next(word, { gateways: views, isComplete: this.isComplete() }, age);
    if (next === "open") return this.say(reopened(word), 0);
    if (next === undefined) return false;
    const version = this.nextVersion("HALF_OPEN");
    this.adopt({ ...word, version, heardAtMs: now, isGrowing: true, shares: next(version) });
    return true;
  }

  private isLeader(word: Word, concerned: boolean): boolean {
    const has = (view: BackendView) => {
      const isConcerned = view.gateways.some(({ state, isSilent }) => state !== "CLOSED" && !isSilent);
      return concerned ? isConcerned : view.weight > 0;
    };
    if (!has(this.view())) return false;
    const rank = orderOf(this.parts.self, word.version);
    return !this.parts.members.live(this.parts.now()).some(({ id, backends }) => {
      const view = backends.get(this.name)?.view;
      return view !== undefined && has(view) && orderOf(id, word.version) < rank;
    });
  }

  private say(news: News, cap: number): true {
    const now = this.parts.now();
    const version = this.nextVersion(news.phase);
    const { phase, stage, openings, waitMs, cause } = news;
    const ground = { gateways: this.allViews(), isComplete: this.isComplete() };
    const shares = this.ramp.begin(this.word, phase, version, cap, ground);
    const waitUntilMs = now + waitMs;
    const ramp = { cap: phase === "HALF_OPEN" ? cap : 0, isGrowing: false, shares };
    this.adopt({ version, phase, stage, openings, cause, waitUntilMs, heardAtMs: now, ...ramp });
    return true;
  }

  private nextVersion(phase: News["phase"]): number {
    const highest = Math.max(this.word?.version ?? 0, this.locals.highestTrack());
    return versionOf(roundOf(highest) + 1, phase, this.parts.author);
  }

  private adopt(word: Word): void {
    if (this.word) this.ramp.leave(this.word, this.locals.processes, this.parts.now());
    this.word = word;
  }

  private leaseGround(): LeaseGround {
    const now = this.parts.now();
    const version = this.word?.version ?? 0;
    const candidate = this.locals.candidate(version, now);
    const length = candidate?.leaseMs ?? this.locals.leaseMs();
    const { members, self, startedAtMs } = this.parts;
    return {
      now,
      self,
      weight: this.locals.weight(now),
      voters: votersOf(members, this.name, length, now),
      version,
      isDue: this.isDue(),
      candidate,
      isProbing: this.locals.isProbing(now),
      mayVote: mayVote(members, startedAtMs, length, now),
    };
  }

  private isDue(): boolean {
    return this.word?.phase === "OPEN" && waitLeft(this.word, this.parts.now()) === 0;
  }

  private isComplete(): boolean {
    return this.parts.now() - this.parts.startedAtMs >= COMPLETE_MS;
  }

  /** Of all members, by process; of one that two tell of, the one that syncs. */
  private allViews(): Map<string, GatewayView> {
    const now = this.parts.now();
    return this.ramp.gather(this.name, this.locals.views(now), this.parts.members.all(), now);
  }
}

function evidenceIn(gateways: readonly GatewayView[]): number {
  return gateways.filter(({ isEvidence, isSilent }) => isEvidence && !isSilent).length;
}

function closed(): News {
  return { phase: "CLOSED", stage: 0, openings: 0, waitMs: 0, cause: "GROUP_CLOSED" };
}

/** The ramp has lost all gateways that took part: it begins again with a probe. */
function reopened({ openings }: Word): News {
  return { phase: "OPEN", stage: 0, openings, waitMs: 0, cause: "GROUP_PROBED" };
}

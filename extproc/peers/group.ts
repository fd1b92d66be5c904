import { randomBytes } from "node:crypto";
import type { Advice, Advisor, BackendReport, Gateway, SharedOverride } from "../sync/contract.js";
import { BackendGroup, type GroupParts } from "./backend-group.js";
import { LIVE_MS, Members } from "./members.js";
import { type BackendView, MAX_BACKENDS, MAX_OVERRIDES, type PeerMessage } from "./message.js";
import { readPeerMessage } from "./message-reader.js";
import { writePeerMessage } from "./message-writer.js";
import { authorOf, phaseOf } from "./version.js";

/** A service that has just begun speaks for nobody until it has heard the others. */
const LISTEN_MS = LIVE_MS;
/** Between messages while something is under way; more for large groups. */
const PACE_MS = 250;
const PACE_PER_MEMBER_MS = 20;
/** A state that time alone changes is looked at so often. */
const STEP_MS = 100;

export interface GroupOptions {
  /** Of this member, as configured. */
  readonly name: string;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** False: no peers are configured, and every gateway stands alone. */
  readonly isGrouped: boolean;
  /** Tells this start of the service from all others; drawn unless given. */
  readonly incarnation?: string;
}

/** Operators' words that the group passes on. */
export interface OverrideBook {
  snapshot(): readonly SharedOverride[];
  merge(overrides: readonly SharedOverride[]): void;
  /** `listener` is called for each change of a word. */
  onChange(listener: (change: string) => void): unknown;
}

/** How the group stands, for people and metrics. */
export interface GroupView {
  readonly isGrouped: boolean;
  readonly member: string;
  readonly name: string;
  readonly members: readonly MemberView[];
  readonly backends: readonly GroupBackendView[];
}

/** What another live member told of its gateways: of each backend those that are not CLOSED. */
export interface OtherMember {
  readonly id: string;
  readonly name: string;
  readonly backends: ReadonlyMap<string, { readonly view: Pick<BackendView, "gateways" | "weight"> }>;
}

export interface MemberView {
  readonly id: string;
  readonly name: string;
  readonly isLive: boolean;
  readonly silentMs: number;
  readonly backends: number;
}

export interface GroupBackendView {
  readonly name: string;
  readonly state: string;
  readonly stage: number;
  readonly version: number;
  readonly waitMs: number;
  /** Live gateways, and how many of them opened on their own evidence. */
  readonly live: number;
  readonly evidence: number;
  /** Name of the member that has the prober's lease, as far as is known here. */
  readonly prober?: string;
  readonly shares: readonly { readonly process: string; readonly count: number }[];
}

/**
 * What many services make of a backend together: docs/decisions/0024. No I/O: messages in and out are values, and time is
 * what `now` says. Every member tells all that it knows each second, so that a lost message only delays.
 */
export class Group implements Advisor {
  private readonly parts: GroupParts;
  private readonly members = new Members();
  private readonly backends = new Map<string, BackendGroup>();
  private readonly listeners = new Set<() => void>();
  private overrides: OverrideBook | undefined;
  private sequence = 0;
  private toldAtMs = Number.NEGATIVE_INFINITY;
  private steppedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: GroupOptions) {
    const self = `${options.name}/${options.incarnation ?? randomBytes(8).toString("hex")}`;
    const { now } = options;
    this.parts = { now, self, author: authorOf(self), startedAtMs: now(), members: this.members };
  }

  get id(): string {
    return this.parts.self;
  }

  /** Operators' words go with the messages from now on, and what is said here goes out at once. */
  carry(overrides: OverrideBook): void {
    this.overrides = overrides;
    overrides.onChange((change) => {
      if (this.options.isGrouped && change !== "learned" && change !== "ended") this.tellSoon();
    });
  }

  /** `listener` is called when the message has changed so that others should have it soon. Returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  observe({ process }: Gateway, reports: readonly BackendReport[]): void {
    let isChanged = false;
    for (const report of reports) {
      const backend = this.backendOf(report.name);
      backend?.take(process, report);
      if (backend && this.options.isGrouped && !this.isListening())
        isChanged = backend.judge(process) || isChanged;
    }
    this.move(isChanged);
  }

  /** Silence is seen by the time of the last report; its share lives on for a while. */
  forget(): void {
    this.move(false);
  }

  advise({ process }: Gateway, report: BackendReport): Advice {
    const backend = this.backends.get(report.name);
    if (backend === undefined) return {};
    return this.options.isGrouped
      ? backend.advise(process, this.isListening())
      : backend.adviseAlone(process);
  }

  get isBusy(): boolean {
    if (!this.options.isGrouped) return false;
    return this.isListening() || [...this.backends.values()].some((backend) => backend.isBusy);
  }

  /** False: an old message, one of our own, or one of a member too many. */
  receive(message: PeerMessage): boolean {
    const isOther = message.member !== this.id && this.options.isGrouped;
    if (!isOther || !this.members.take(message, this.options.now())) return false;
    for (const { name, register } of message.backends) this.backends.get(name)?.hear(register);
    if (message.overrides.length > 0) this.overrides?.merge(message.overrides);
    this.steppedAtMs = Number.NEGATIVE_INFINITY;
    this.move(false);
    return true;
  }

  /** All that this member has to tell. */
  message(): PeerMessage {
    const now = this.options.now();
    this.toldAtMs = now;
    this.sequence++;
    return {
      member: this.id,
      name: this.options.name,
      sequence: this.sequence,
      uptimeMs: Math.floor(now - this.parts.startedAtMs),
      backends: [...this.backends.values()].map((backend) => backend.view()),
      overrides: (this.overrides?.snapshot() ?? []).slice(0, MAX_OVERRIDES),
    };
  }

  /** {@link message} as bytes. */
  write(): Uint8Array {
    return writePeerMessage(this.message());
  }

  /**
   * {@link receive} of bytes.
   * @throws WireError
   */
  read(bytes: Uint8Array): boolean {
    return this.receive(readPeerMessage(bytes));
  }

  /** An operator's: CLOSED everywhere, with nothing remembered. False: no gateway has such a backend. */
  reset(name: string): boolean {
    const backend = this.backends.get(name);
    if (backend === undefined) return false;
    backend.reset();
    this.move(true);
    return true;
  }

  view(): GroupView {
    const now = this.options.now();
    const { isGrouped, name } = this.options;
    const live = new Set(this.members.live(now).map(({ id }) => id));
    const members = this.members.all().map(({ id, name, heardAtMs, backends }) => {
      const silentMs = Math.floor(now - heardAtMs);
      return { id, name, isLive: live.has(id), silentMs, backends: backends.size };
    });
    const backends = [...this.backends.values()].map((backend) => this.backendView(backend));
    return { isGrouped, member: this.id, name, members, backends };
  }

  /** The other members that count now. */
  others(): readonly OtherMember[] {
    return this.options.isGrouped ? this.members.live(this.options.now()) : [];
  }

  /** True for a member that does not know the others yet. */
  get isNew(): boolean {
    return this.options.isGrouped && this.isListening();
  }

  private backendView(backend: BackendGroup): GroupBackendView {
    const word = backend.current;
    const { register, grant } = backend.view();
    const prober = backend.isLeaseHeld ? this.id : grant?.member;
    const shares = (word?.shares ?? []).filter(({ endedBy }) => endedBy === 0);
    return {
      name: backend.name,
      state: word ? phaseOf(word.version) : "CLOSED",
      stage: word?.stage ?? 0,
      version: word?.version ?? 0,
      waitMs: register?.waitMs ?? 0,
      ...backend.evidence(),
      ...(prober !== undefined && { prober: prober.slice(0, prober.lastIndexOf("/")) }),
      shares: shares.map(({ process, count }) => ({ process, count })),
    };
  }

  /** Speaks only after it has heard: what it knows of its gateways alone may be out of date. */
  private isListening(): boolean {
    return this.options.now() - this.parts.startedAtMs < LISTEN_MS;
  }

  private backendOf(name: string): BackendGroup | undefined {
    const known = this.backends.get(name);
    if (known || this.backends.size >= MAX_BACKENDS) return known;
    const backend = new BackendGroup(name, this.parts);
    this.backends.set(name, backend);
    return backend;
  }

  private move(isChanged: boolean): void {
    if (!this.options.isGrouped) {
      this.pruneAll();
      return;
    }
    const now = this.options.now();
    let isNew = isChanged;
    if (isChanged || now - this.steppedAtMs >= STEP_MS) {
      this.steppedAtMs = now;
      for (const backend of this.backends.values()) isNew = this.stepOne(backend) || isNew;
    }
    const members = this.members.live(now).length;
    const isDue = now - this.toldAtMs >= Math.max(PACE_MS, PACE_PER_MEMBER_MS * members);
    if (isNew || (isDue && this.isBusy)) this.tellSoon();
  }

  private tellSoon(): void {
    for (const listener of this.listeners) listener();
  }

  /** Processes come and go also where every gateway stands alone. */
  private pruneAll(): void {
    const now = this.options.now();
    if (now - this.steppedAtMs < STEP_MS) return;
    this.steppedAtMs = now;
    for (const backend of this.backends.values()) this.prune(backend);
  }

  /** False: no gateway has it any more. */
  private prune(backend: BackendGroup): boolean {
    backend.prune();
    if (backend.gatewayCount > 0) return true;
    this.backends.delete(backend.name);
    return false;
  }

  private stepOne(backend: BackendGroup): boolean {
    return this.prune(backend) && !this.isListening() && backend.step();
  }
}

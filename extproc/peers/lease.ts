import type { Ask, Grant, Readiness } from "./message.js";
import { hash } from "./version.js";

/** Two clocks of 1 % each. */
const CLOCK_RATE = 0.02;
/** For the word to get to the Envoy and its prober's tick. */
const WAY_MS = 250;
/** Between asking and having it, and for the prober to begin. */
const LEAST_ROOM_MS = 2000;
/** More than the longest of a policy, which is an hour, comes to. */
export const MAX_LEASE_MS = 3_700_000;
/** A member whose voice was heard so long before a lease may have voted for one. */
export const HEARD_BEFORE_MS = 3000;

/** Another member, as to one backend. */
export interface Voter {
  readonly id: string;
  readonly weight: number;
  /** Counts when votes are. */
  readonly isInQuorum: boolean;
  readonly isLive: boolean;
  readonly version: number;
  readonly readiness: Readiness;
  readonly isProbing: boolean;
  readonly ask: Ask | undefined;
  readonly askedAtMs: number;
  readonly grant: Grant | undefined;
}

/** A gateway of our own that could probe now. */
export interface Candidate {
  readonly process: string;
  readonly leaseMs: number;
  readonly probeTimeoutMs: number;
}

export interface LeaseGround {
  readonly now: number;
  readonly self: string;
  readonly weight: number;
  readonly voters: readonly Voter[];
  /** The group's word. */
  readonly version: number;
  /** It is OPEN and its wait is over. */
  readonly isDue: boolean;
  readonly candidate: Candidate | undefined;
  /** A gateway of our own probes. */
  readonly isProbing: boolean;
  /** False after a start, while a vote of the process before may hold. */
  readonly mayVote: boolean;
}

interface OwnAsk extends Candidate, Ask {
  readonly version: number;
  readonly sinceMs: number;
  readonly granters: Set<string>;
  /** More than half of the group voted for it; no vote is taken back before its time. */
  isHeld: boolean;
  /** The gateway was told, so that a probe may be in flight. */
  isTold: boolean;
}

/** How long a lease is for a policy's figures. */
export function leaseMs(probeLeaseMs: number, probeTimeoutMs: number): number {
  const least = (probeTimeoutMs + LEAST_ROOM_MS) / (1 - CLOCK_RATE);
  return Math.min(MAX_LEASE_MS, Math.max(probeLeaseMs, Math.ceil(least)));
}

/**
 * The prober's lease of one backend. Whoever is first in rank asks; each member has one vote, which it keeps for the
 * lease's length unless the asker withdraws; more than half of the weight hold it. An asker counts from when it asked, a
 * voter from when it heard of it, so that the lease is over before any vote is free again, whatever their clocks show.
 */
export class Lease {
  private own: OwnAsk | undefined;
  private vote: (Grant & { readonly untilMs: number }) | undefined;
  private lastAsk = 0;
  private lastUntilMs = Number.NEGATIVE_INFINITY;

  get ask(): Ask | undefined {
    return this.own && { id: this.own.id, leaseMs: this.own.leaseMs };
  }

  get grant(): Grant | undefined {
    return this.vote && { member: this.vote.member, ask: this.vote.ask };
  }

  /** Whether it is asked for, held or voted on. */
  get isActive(): boolean {
    return this.own !== undefined || this.vote !== undefined;
  }

  get isHeld(): boolean {
    return this.own?.isHeld ?? false;
  }

  readiness(ground: LeaseGround): Readiness {
    if (!ground.isDue || !ground.mayVote || ground.candidate === undefined) return "NONE";
    return ground.now < this.lastUntilMs ? "LAST" : "READY";
  }

  /** True when others should hear of a change. */
  step(ground: LeaseGround): boolean {
    const asked = this.own?.id;
    const voted = this.vote;
    this.forget(ground);
    this.withdraw(ground);
    if (this.isMyTurn(ground)) this.begin(ground);
    if (this.own === undefined && this.vote === undefined) this.giveVote(ground);
    this.count(ground);
    return asked !== this.own?.id || voted !== this.vote;
  }

  /** Time in which this gateway may begin a probe; 0 = none. */
  mayProbeMs(process: string, version: number, now: number): number {
    const own = this.own;
    if (!own?.isHeld || own.process !== process || own.version !== version) return 0;
    const left = Math.floor(roomMs(own, now));
    if (left <= 0) return 0;
    own.isTold = true;
    return left;
  }

  /** The verdict is there: the lease has done its service. */
  end(process: string): void {
    if (this.own?.process === process && this.own.isTold) this.own = undefined;
  }

  private forget({ now, voters }: LeaseGround): void {
    const vote = this.vote;
    if (vote === undefined) return;
    const asker = voters.find(({ id }) => id === vote.member);
    if (now >= vote.untilMs || (asker && asker.ask?.id !== vote.ask)) this.vote = undefined;
  }

  private withdraw(ground: LeaseGround): void {
    const own = this.own;
    if (own === undefined) return;
    if (ground.now >= own.sinceMs + own.leaseMs) {
      if (own.isTold) this.lastUntilMs = ground.now + 2 * own.leaseMs;
      this.own = undefined;
    } else if (!own.isTold && !this.isStillWanted(own, ground)) this.own = undefined;
  }

  private isStillWanted(own: OwnAsk, ground: LeaseGround): boolean {
    if (!ground.isDue || own.version !== ground.version || ground.candidate?.process !== own.process)
      return false;
    if (roomMs(own, ground.now) <= 0) return false;
    const rank = this.rankOf(ground);
    return !askers(ground).some((voter) => isBefore(voterRank(voter), rank));
  }

  private isMyTurn(ground: LeaseGround): boolean {
    const { voters, version, now, isProbing } = ground;
    if (this.isActive || isProbing || this.readiness(ground) === "NONE") return false;
    if (voters.some((voter) => isBusy(voter, now))) return false;
    const rank = this.rankOf(ground);
    const ready = voters.filter((each) => {
      return each.isLive && each.version === version && each.readiness !== "NONE";
    });
    return !ready.some((voter) => isBefore(voterRank(voter), rank));
  }

  private begin({ candidate, version, now }: LeaseGround): void {
    if (candidate === undefined) return;
    this.lastAsk++;
    const flags = { isHeld: false, isTold: false };
    this.own = { ...candidate, ...flags, id: this.lastAsk, version, sinceMs: now, granters: new Set() };
  }

  private giveVote(ground: LeaseGround): void {
    if (!ground.isDue || !ground.mayVote || ground.isProbing) return;
    const [first, ...others] = askers(ground);
    if (first === undefined) return;
    const chosen = others.reduce((best, each) => {
      return isBefore(voterRank(each), voterRank(best)) ? each : best;
    }, first);
    if (chosen.ask === undefined) return;
    const { id, leaseMs } = chosen.ask;
    const untilMs = ground.now + Math.min(leaseMs, MAX_LEASE_MS) * (1 + CLOCK_RATE);
    this.vote = { member: chosen.id, ask: id, untilMs };
  }

  private count({ voters, weight, self }: LeaseGround): void {
    const own = this.own;
    if (own === undefined || own.isHeld) return;
    for (const { id, grant } of voters)
      if (grant?.member === self && grant.ask === own.id) own.granters.add(id);
    const quorum = voters.filter(({ isInQuorum }) => isInQuorum);
    const all = weight + sum(quorum);
    const given = weight + sum(quorum.filter(({ id }) => own.granters.has(id)));
    own.isHeld = given * 2 > all;
  }

  private rankOf(ground: LeaseGround): Rank {
    return {
      isLast: ground.now < this.lastUntilMs,
      order: orderOf(ground.self, ground.version),
      id: ground.self,
    };
  }
}

interface Rank {
  readonly isLast: boolean;
  readonly order: number;
  readonly id: string;
}

/** Another order for each version: nobody's broken way to the backend decides every opening. */
export function orderOf(id: string, version: number): number {
  return hash(`${id}:${version}`);
}

function voterRank({ id, readiness, version }: Voter): Rank {
  return { isLast: readiness === "LAST", order: orderOf(id, version), id };
}

function isBefore(one: Rank, other: Rank): boolean {
  if (one.isLast !== other.isLast) return other.isLast;
  return one.order !== other.order ? one.order < other.order : one.id < other.id;
}

function askers({ voters, version }: LeaseGround): Voter[] {
  return voters.filter((each) => each.isLive && each.ask !== undefined && each.version === version);
}

/** It probes, or may: a member that is gone, too, until its lease is over. */
function isBusy({ isLive, isProbing, ask, askedAtMs }: Voter, now: number): boolean {
  if (isLive && isProbing) return true;
  return ask !== undefined && now < askedAtMs + Math.min(ask.leaseMs, MAX_LEASE_MS) * (1 + CLOCK_RATE);
}

/** Time in which a probe could begin that is over before the lease is. */
function roomMs({ sinceMs, leaseMs, probeTimeoutMs }: OwnAsk, now: number): number {
  return sinceMs + leaseMs * (1 - CLOCK_RATE) - probeTimeoutMs - WAY_MS - now;
}

function sum(voters: readonly Voter[]): number {
  return voters.reduce((total, { weight }) => total + weight, 0);
}

import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { OtherMember } from "../peers/group.js";
import type { Transition } from "../sync/contract.js";
import { type Fact, Facts } from "./facts.js";
import { Incidents } from "./incidents.js";
import { Outbox, type Result } from "./outbox.js";
import { type ListedGateway, standingsOf } from "./standings.js";
import type { Target } from "./target.js";

/** What was left to another member is ours while that may turn out to have been gone. */
const LEFT_FOR_MS = 10_000;
const MOST_LEFT = 256;

export interface WebhooksParts {
  readonly log: Pick<Logger, "info" | "warn">;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  readonly gateways: () => readonly ListedGateway[];
  readonly group: WebhookGroup;
  /** This service, as messages name it. */
  readonly service: string;
  /** 0 to 1; drawn unless given. */
  readonly random?: () => number;
}

/** The services that act as one. */
export interface WebhookGroup {
  readonly id: string;
  /** Does not know the others yet. */
  readonly isNew: boolean;
  others(): readonly OtherMember[];
}

interface Hook {
  readonly outbox: Outbox;
  readonly facts: Facts;
  /** Facts that another member was to tell. */
  left: { readonly fact: Fact; readonly atMs: number; readonly to: string }[];
}

/**
 * Tells webhooks of what happens to backends, each fact once over all gateways. Of a group the first member by its id that has the
 * backend does: docs/decisions/0032. One for the whole life of a service, so that a reload tells nothing twice.
 */
export class Webhooks {
  private readonly incidents = new Incidents();
  private hooks: Hook[] = [];
  private readonly counts = new Map<string, Map<Result, number>>();

  constructor(private readonly parts: WebhooksParts) {}

  /** A gateway of this service told of a transition. */
  note(backend: string, transition: Transition): void {
    if (this.hooks.length > 0) this.incidents.note(backend, transition);
  }

  /** Brings settings into use. A webhook of the same URL goes on: what it was told, and what waits for it. */
  apply(targets: readonly Target[]): void {
    const before = [...this.hooks];
    this.hooks = targets.map((target) => {
      const at = before.findIndex(({ outbox }) => outbox.target.url === target.url);
      const [known] = at < 0 ? [] : before.splice(at, 1);
      if (known === undefined) return this.hookOf(target);
      known.outbox.target = target;
      return known;
    });
    for (const { outbox } of before) outbox.close();
  }

  /** Looks at everything; called twice a second. */
  step(): void {
    const { group, gateways, now } = this.parts;
    if (this.hooks.length === 0 || group.isNew) return;
    const at = now();
    const others = group.others();
    const ended = this.incidents.update(standingsOf(gateways(), others), at);
    for (const hook of this.hooks) {
      const facts = hook.facts.next(hook.outbox.target.settings, this.incidents, ended, at);
      this.takeUp(hook, others, at);
      for (const fact of facts) this.tell(hook, fact, others, at);
      hook.outbox.pump();
    }
  }

  /** How messages went, by webhook. */
  *deliveries(): Iterable<{ webhook: string; result: Result; count: number }> {
    for (const [webhook, results] of this.counts)
      for (const [result, count] of results) yield { webhook, result, count };
  }

  /** Resolves when no message is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.hooks.map(({ outbox }) => outbox.settled()));
  }

  close(): void {
    this.apply([]);
  }

  private hookOf(target: Target): Hook {
    const { log, now, wallNow, random = Math.random } = this.parts;
    const count = (label: string, result: Result) => this.count(label, result);
    return {
      outbox: new Outbox(target, { log, now, wallNow, random, count }),
      facts: new Facts(),
      left: [],
    };
  }

  private tell(hook: Hook, fact: Fact, others: readonly OtherMember[], now: number): void {
    const to = senderOf(fact.backend, this.parts.group.id, others);
    if (to === this.parts.group.id) this.send(hook, fact);
    else hook.left.push({ fact, atMs: now, to });
    if (hook.left.length > MOST_LEFT) hook.left.shift();
  }

  /** What a member that is gone since may not have told. */
  private takeUp(hook: Hook, others: readonly OtherMember[], now: number): void {
    const { left } = hook;
    hook.left = left.filter(({ atMs, to }) => now - atMs < LEFT_FOR_MS && others.some(({ id }) => id === to));
    for (const each of left) {
      if (now - each.atMs < LEFT_FOR_MS && !hook.left.includes(each)) this.tell(hook, each.fact, others, now);
    }
  }

  private send({ outbox }: Hook, fact: Fact): void {
    const { wallNow, service } = this.parts;
    outbox.put({ id: randomUUID(), atMs: wallNow(), service, fact });
  }

  private count(label: string, result: Result): void {
    const results = this.counts.get(label) ?? new Map<Result, number>();
    this.counts.set(label, results.set(result, (results.get(result) ?? 0) + 1));
  }
}

function senderOf(backend: string, self: string, others: readonly OtherMember[]): string {
  let first = self;
  for (const { id, backends } of others) if (backends.has(backend) && id < first) first = id;
  return first;
}

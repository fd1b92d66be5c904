import { failureRate } from "../sync/failure-rate.js";
import type { Ending, Incident, Incidents } from "./incidents.js";
import type { EventName, WebhookSettings } from "./settings.js";
import type { OpenGateway } from "./standings.js";

/** Gateways open within moments of each other; a message waits for them, so that it names all. */
const GATHER_MS = 2_000;

/** Something to tell, once. */
export interface Fact {
  readonly event: EventName;
  readonly status: "firing" | "resolved";
  readonly backend: string;
  /** How long it had been on. */
  readonly lastedMs: number;
  readonly cause?: string;
  readonly ending?: Ending;
  readonly openings?: number;
  readonly figures?: Figures;
  readonly gateways: number;
  readonly away: readonly OpenGateway[];
}

/** What made the latest opening, on the gateway that told of it. */
export interface Figures {
  readonly calls: number;
  /** Percent. */
  readonly failureRate: number;
  readonly consecutiveFailures: number;
  readonly openings: number;
  readonly waitMs: number;
}

type Rules = Pick<WebhookSettings, "events" | "longOpenAfter" | "flapping" | "sendResolved">;

/** What one webhook was told, and is to be told next. */
export class Facts {
  /** By event and backend: since when it has been on. */
  private readonly firing = new Map<string, number>();

  /** Facts that have come or gone since the last call. `ended` are incidents that are over. */
  next(rules: Rules, incidents: Incidents, ended: readonly Incident[], now: number): Fact[] {
    const facts: Fact[] = [];
    for (const incident of ended) facts.push(...this.finish(rules, incident, now));
    for (const incident of incidents.running) {
      if (now - incident.firstSeenAtMs >= GATHER_MS) facts.push(...this.begin(rules, "open", incident, now));
      if (now - incident.startedAtMs >= rules.longOpenAfter)
        facts.push(...this.begin(rules, "longOpen", incident, now));
    }
    if (rules.events.includes("flapping")) facts.push(...this.flap(rules, incidents, now));
    return facts.filter(({ status }) => status === "firing" || rules.sendResolved);
  }

  private begin(rules: Rules, event: EventName, incident: Incident, now: number): Fact[] {
    const key = keyOf(event, incident.backend);
    if (!rules.events.includes(event) || this.firing.has(key)) return [];
    this.firing.set(key, incident.startedAtMs);
    return [factOf(event, "firing", incident, now)];
  }

  private finish(rules: Rules, incident: Incident, now: number): Fact[] {
    // One that was over before it was told of is told of all the same.
    const facts = this.begin(rules, "open", incident, now);
    for (const event of ["open", "longOpen"] as const)
      if (this.firing.delete(keyOf(event, incident.backend)))
        facts.push(factOf(event, "resolved", incident, now));
    return facts;
  }

  private flap({ flapping }: Rules, incidents: Incidents, now: number): Fact[] {
    const facts: Fact[] = [];
    const counts = new Map(incidents.openingsWithin(flapping.within, now));
    for (const [backend, openings] of counts) {
      const key = keyOf("flapping", backend);
      if (openings < flapping.openings || this.firing.has(key)) continue;
      this.firing.set(key, now);
      const incident = incidents.find(backend);
      const about = incident === undefined ? nothing(backend) : factOf("flapping", "firing", incident, now);
      facts.push({ ...about, event: "flapping", status: "firing", lastedMs: flapping.within, openings });
    }
    for (const [key, sinceMs] of this.firing) {
      const [event, backend] = JSON.parse(key) as [EventName, string];
      const openings = counts.get(backend) ?? 0;
      if (event !== "flapping" || openings >= flapping.openings || incidents.find(backend) !== undefined)
        continue;
      this.firing.delete(key);
      const lastedMs = now - sinceMs;
      facts.push({ ...nothing(backend), event, status: "resolved", lastedMs, openings, ending: "recovered" });
    }
    return facts;
  }
}

function nothing(backend: string): Pick<Fact, "backend" | "gateways" | "away"> {
  return { backend, gateways: 0, away: [] };
}

function factOf(event: EventName, status: Fact["status"], incident: Incident, now: number): Fact {
  const { backend, opening, gateways, away, ending, endedAtMs = now, startedAtMs } = incident;
  return {
    event,
    status,
    backend,
    lastedMs: endedAtMs - startedAtMs,
    gateways,
    away,
    ...(opening && { cause: opening.cause, figures: figuresOf(opening) }),
    ...(status === "resolved" && ending && { ending }),
  };
}

function figuresOf({
  calls,
  weightedFailures,
  consecutiveFailures,
  openings,
  waitMs,
}: NonNullable<Incident["opening"]>): Figures {
  return { calls, failureRate: failureRate(weightedFailures, calls), consecutiveFailures, openings, waitMs };
}

function keyOf(event: EventName, backend: string): string {
  return JSON.stringify([event, backend]);
}

import type { Transition } from "../sync/contract.js";
import type { OpenGateway, Standing } from "./standings.js";

/** A backend that nobody reports for so long is no more. */
const GONE_MS = 900_000;
const MOST_BACKENDS = 512;
/** As many as `flapping.openings` may ask for. */
const MOST_OPENINGS = 64;
const LONGEST_WITHIN_MS = 86_400_000;
/** What is told to be older was told of before: a service that has just begun hears of all that a gateway remembers. */
const FRESH_MS = 10_000;
const LONGEST_OPEN_MS = 31_536_000_000;

/** How an incident ended: the backend is Closed everywhere, an operator took over, or nobody reports it any more. */
export type Ending = "recovered" | "operator" | "gone";

/** From a backend's first opening until it is Closed on all gateways. */
export interface Incident {
  readonly backend: string;
  /** Monotonic milliseconds, here and below. */
  readonly startedAtMs: number;
  readonly firstSeenAtMs: number;
  /** Of the latest opening that a gateway of this service told of. */
  opening: Transition | undefined;
  gateways: number;
  away: readonly OpenGateway[];
  seenAtMs: number;
  endedAtMs?: number;
  ending?: Ending;
}

/** All that one backend has had. */
interface Case {
  incident: Incident | undefined;
  /** When incidents began, oldest first. */
  readonly openings: number[];
  lastOpening: Transition | undefined;
  hasOpened: boolean;
}

/** What happens to backends over all gateways, whoever is told of it. Pure: time is what callers say. */
export class Incidents {
  private readonly cases = new Map<string, Case>();

  /** Those that are on. */
  get running(): Incident[] {
    return [...this.cases.values()].flatMap(({ incident }) => incident ?? []);
  }

  /** A gateway of this service told of a transition. */
  note(backend: string, transition: Transition): void {
    if (transition.to !== "OPEN" || transition.ageMs > FRESH_MS) return;
    const known = this.caseOf(backend);
    if (known === undefined) return;
    known.lastOpening = transition;
    known.hasOpened ||= transition.from === "CLOSED";
    if (known.incident !== undefined) known.incident.opening = transition;
  }

  /** Takes in how backends stand; gives the incidents that have just ended, each once. */
  update(standings: ReadonlyMap<string, Standing>, now: number): Incident[] {
    const ended: Incident[] = [];
    for (const [backend, standing] of standings) {
      const known = this.cases.get(backend) ?? (standing.isOpen ? this.caseOf(backend) : undefined);
      if (known !== undefined) ended.push(...this.updateOne(backend, known, standing, now));
    }
    for (const [backend, known] of this.cases) {
      const { incident, openings } = known;
      if (incident !== undefined && !standings.has(backend) && now - incident.seenAtMs >= GONE_MS)
        ended.push(end(known, incident, "gone", now));
      while (openings[0] !== undefined && now - openings[0] > LONGEST_WITHIN_MS) openings.shift();
      if (known.incident === undefined && openings.length === 0 && !known.hasOpened)
        this.cases.delete(backend);
    }
    return ended;
  }

  /** Backends that opened within the last day, and how often within the last `withinMs`. */
  *openingsWithin(withinMs: number, now: number): Iterable<[backend: string, openings: number]> {
    for (const [backend, { openings }] of this.cases)
      yield [backend, openings.filter((atMs) => now - atMs <= withinMs).length];
  }

  /** The one that is on. */
  find(backend: string): Incident | undefined {
    return this.cases.get(backend)?.incident;
  }

  private updateOne(backend: string, known: Case, standing: Standing, now: number): Incident[] {
    const { hasOpened } = known;
    known.hasOpened = false;
    const { incident } = known;
    if (incident === undefined) {
      // One that is over already between two looks was an opening as well, unless nobody was refused.
      const isMissed = hasOpened && !standing.isOperated && !standing.isShadow;
      if (!standing.isOpen && !isMissed) return [];
      known.incident = begin(backend, known, standing, now);
      return standing.away.length > 0 ? [] : [end(known, known.incident, "recovered", now)];
    }
    incident.seenAtMs = now;
    if (standing.away.length > 0) {
      incident.gateways = standing.gateways;
      incident.away = standing.away;
      return [];
    }
    return [end(known, incident, standing.isOperated ? "operator" : "recovered", now)];
  }

  private caseOf(backend: string): Case | undefined {
    const known = this.cases.get(backend);
    if (known !== undefined || this.cases.size >= MOST_BACKENDS) return known;
    const fresh: Case = { incident: undefined, openings: [], lastOpening: undefined, hasOpened: false };
    this.cases.set(backend, fresh);
    return fresh;
  }
}

function begin(backend: string, known: Case, standing: Standing, now: number): Incident {
  known.openings.push(now);
  if (known.openings.length > MOST_OPENINGS) known.openings.shift();
  return {
    backend,
    startedAtMs: now - Math.min(standing.openForMs, LONGEST_OPEN_MS),
    opening: known.lastOpening,
    gateways: standing.gateways,
    away: standing.away,
    firstSeenAtMs: now,
    seenAtMs: now,
  };
}

function end(known: Case, incident: Incident, ending: Ending, now: number): Incident {
  known.incident = undefined;
  known.lastOpening = undefined;
  incident.endedAtMs = now;
  incident.ending = ending;
  return incident;
}

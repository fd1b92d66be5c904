import type { EventQueue } from "./event-queue.js";
import type { SimulatedEnvoy } from "./simulated-envoy.js";

interface InFlight {
  readonly by: SimulatedEnvoy;
  readonly isGrouped: boolean;
}

/** Canaries at once that the policy's stages allow: the largest one. */
export const LARGEST_CAP = 3;

/** The sick GPU, and a witness of what reaches it. */
export class SimulatedBackend {
  /** What should never be. */
  readonly faults: string[] = [];
  probesSent = 0;
  mostCanaries = 0;
  private readonly probes = new Set<InFlight>();
  private readonly canaries = new Set<InFlight>();

  constructor(
    private readonly queue: EventQueue,
    private readonly isFailing: (gateway: string, now: number) => boolean,
    /** Whether the two could hear each other all the time; else neither is to blame. */
    private readonly areTogether: (one: SimulatedEnvoy, other: SimulatedEnvoy) => boolean,
  ) {}

  /** Who has a probe in flight. */
  get prober(): SimulatedEnvoy | undefined {
    return [...this.probes][0]?.by;
  }

  isWell(by: SimulatedEnvoy): boolean {
    return !this.isFailing(by.name, this.queue.now);
  }

  beginProbe(by: SimulatedEnvoy, isGrouped: boolean): () => boolean {
    this.probesSent++;
    for (const other of this.probes)
      if (isGrouped && other.isGrouped && this.areTogether(by, other.by))
        this.faults.push(`at ${Math.round(this.queue.now)}: ${by.name} probes while ${other.by.name} does`);
    return this.begin(this.probes, { by, isGrouped });
  }

  beginCanary(by: SimulatedEnvoy, isGrouped: boolean): () => boolean {
    const end = this.begin(this.canaries, { by, isGrouped });
    const together = [...this.canaries].filter((each) => each.isGrouped && this.areTogether(by, each.by));
    this.mostCanaries = Math.max(this.mostCanaries, together.length);
    if (isGrouped && together.length > LARGEST_CAP)
      this.faults.push(`at ${Math.round(this.queue.now)}: ${together.length} canaries`);
    return end;
  }

  /** Its connections are gone. */
  drop(envoy: SimulatedEnvoy): void {
    for (const flights of [this.probes, this.canaries])
      for (const flight of flights) if (flight.by === envoy) flights.delete(flight);
  }

  private begin(flights: Set<InFlight>, flight: InFlight): () => boolean {
    flights.add(flight);
    return () => {
      flights.delete(flight);
      return this.isWell(flight.by);
    };
  }
}

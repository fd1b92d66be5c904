import { randomOf } from "./event-queue.js";
import { Simulation } from "./simulation.js";

export interface ScheduleReport {
  readonly simulation: Simulation;
  readonly gateways: number;
  readonly failing: number;
  /** How long after everything was well all were CLOSED and of one mind; undefined: never. */
  readonly agreedAfterMs: number | undefined;
  readonly log: readonly string[];
}

const BEGINS_MS = 8000;
const END_MS = 60_000;
/** A probe that began while the group was divided has ended by then. */
const BLAMELESS_MS = 13_000;

/** One random life of a group: failures, losses, deaths, partitions; then all is well again. */
export function runSchedule(seed: number): ScheduleReport {
  const random = randomOf(seed ^ 0x5eed);
  const gateways = 2 + Math.floor(random() * 6);
  const failing = Math.floor(random() * (gateways + 1));
  const isFailing = (gateway: string, now: number) =>
    now >= BEGINS_MS && now < END_MS && Number(gateway.slice(1)) < failing;
  const simulation = new Simulation({
    seed,
    gateways,
    isFailing,
    loss: random() < 0.5 ? 0.2 : 0,
    offsetMs: 30_000,
    rate: 0.01,
    isEncoded: seed % 16 === 0,
    pauseMs: 100 + random() * 400,
    envoysPerService: random() < 0.2 ? 2 : 1,
  });
  const log: string[] = [];
  disturb(simulation, gateways, random, log);
  simulation.run(END_MS);
  return { simulation, gateways, failing, agreedAfterMs: timeToAgree(simulation), log };
}

function disturb(simulation: Simulation, gateways: number, random: () => number, log: string[]): void {
  const { queue } = simulation;
  const deeds = Math.floor(random() * 4);
  for (let i = 0; i < deeds; i++) {
    const atMs = 3000 + random() * (END_MS - 20_000);
    const lastsMs = 500 + random() * 12_000;
    const index = Math.floor(random() * gateways);
    const kind = random();
    const say = (what: string) => log.push(`${Math.round(queue.now)} ${what}`);
    if (kind < 0.35) {
      queue.after(atMs, () => {
        say(`service ${index} dies`);
        simulation.stopService(index);
        queue.after(lastsMs, () => {
          say(`service ${index} begins`);
          simulation.startService(index);
        });
      });
    } else if (kind < 0.7) {
      queue.after(atMs, () => {
        say(`envoy ${index} dies`);
        const before = simulation.stopEnvoy(index);
        const known = random() < 0.5 ? before : undefined;
        if (before) queue.after(lastsMs, () => simulation.startEnvoy(index, known));
      });
    } else {
      queue.after(atMs, () => {
        say("divided");
        simulation.divide(1 + Math.floor(random() * (gateways - 1)));
        queue.after(lastsMs, () => {
          say("healed");
          simulation.heal();
          queue.after(BLAMELESS_MS, () => simulation.judgeAll());
        });
      });
    }
  }
}

/** Milliseconds until all are CLOSED under one word, and stay so for 5 s. */
function timeToAgree(simulation: Simulation): number | undefined {
  let sinceMs: number | undefined;
  for (let ms = 0; ms <= 240_000; ms += 250) {
    simulation.run(250);
    const isOne = new Set(simulation.versions()).size === 1;
    if (isOne && simulation.states().every((state) => state === "CLOSED")) sinceMs ??= ms;
    else sinceMs = undefined;
    if (sinceMs !== undefined && ms - sinceMs >= 5000) return sinceMs;
  }
  return undefined;
}

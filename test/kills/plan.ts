import { between, type Random, seededRandom } from "../../demo/random.js";

/** `trap` is of one worker's VM of the first gateway; the others are of processes. */
export type Act = "kill" | "stop" | "trap";

export type VictimName = "gpu" | "small" | "redis" | "service-a" | "service-b" | "gateway-b";
export type Position = "gate" | "meter";

export interface Fault {
  readonly act: Act;
  readonly victim: VictimName | Position;
}

/** One or two faults, and how long they last. */
export interface Round {
  readonly faults: readonly Fault[];
  /** Between the first and the second. */
  readonly gapMs: number;
  readonly lastMs: number;
}

const processes: readonly VictimName[] = ["gpu", "small", "redis", "service-a", "service-b", "gateway-b"];

export const allFaults: readonly Fault[] = [
  ...processes.flatMap((victim) => [
    { act: "kill" as const, victim },
    { act: "stop" as const, victim },
  ]),
  { act: "trap", victim: "gate" },
  { act: "trap", victim: "meter" },
];

export function nameOf({ act, victim }: Fault): string {
  return `${act} ${victim}`;
}

const mostGapMs = 800;
const leastLastMs = 500;
const mostLastMs = 7_000;

/** Rounds without end: all faults in an order of the seed's, in ones and twos, and then all of them again. */
export function* rounds(seed: number, faults: readonly Fault[] = allFaults): Generator<Round> {
  const random = seededRandom(seed);
  for (;;) {
    const left = shuffled(faults, random);
    while (left.length > 0) {
      const first = left.shift() as Fault;
      const isPair = random() < 0.6;
      const at = isPair ? left.findIndex((other) => other.victim !== first.victim) : -1;
      const second = at < 0 ? [] : left.splice(at, 1);
      yield {
        faults: [first, ...second],
        gapMs: between(random, 0, mostGapMs),
        lastMs: between(random, leastLastMs, mostLastMs),
      };
    }
  }
}

function shuffled<T>(values: readonly T[], random: Random): T[] {
  const rest = [...values];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(between(random, 0, rest.length - 1), 1));
  return result;
}

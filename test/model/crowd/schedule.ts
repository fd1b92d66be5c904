import fc from "fast-check";
import type { Crowd } from "./crowd.js";
import { describeTurn, type Step, type StepKind, stepKinds, type Turn } from "./step.js";
import { mostWorkers } from "./workers.js";

/** How often each kind of step comes. */
const weights: Readonly<Record<StepKind, number>> = {
  arrive: 12,
  succeed: 8,
  fail: 4,
  mild: 4,
  leave: 2,
  tick: 8,
  answerProbe: 6,
  firstTokens: 1,
  wait: 6,
  word: 1,
  orders: 1,
  restart: 1,
};
const drawnKinds = stepKinds.flatMap((kind) => Array<StepKind>(weights[kind]).fill(kind));
const mostTurns = 40;
/** One more than an update is tried. */
const manyRefusals = 17;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.nat(drawnKinds.length - 1).map((index) => drawnKinds[index] ?? "arrive"),
  worker: fc.nat(mostWorkers - 1),
  pick: fc.nat(15),
});

const turn: fc.Arbitrary<Turn> = fc.record({
  step,
  within: fc.array(step, { maxLength: 4, size: "max" }),
  refusals: fc.nat(19).map((draw) => (draw < 15 ? 0 : draw < 19 ? draw - 14 : manyRefusals)),
});

/** A schedule's turns as plain values, for whoever has no use for commands. */
export const turns = fc.array(turn, { maxLength: mostTurns, size: "max" });

/** What fast-check keeps of a run: all that is to be known is the crowd's. */
export interface NoModel {
  readonly workers: number;
}

/** One turn, as a command of fast-check's model-based testing. */
class TurnCommand implements fc.Command<NoModel, Crowd> {
  constructor(readonly turn: Turn) {}

  check(): boolean {
    return true;
  }

  run(_: NoModel, crowd: Crowd): void {
    crowd.run(this.turn);
    if (crowd.observer.fault) throw crowd.observer.fault;
  }

  toString(): string {
    return describeTurn(this.turn);
  }
}

const first = (kind: StepKind, pick = 0): Turn => ({
  step: { kind, worker: 0, pick },
  within: [],
  refusals: 0,
});

/** From a start to Open, to a probe that is under way, and to the ramp. */
const beginning = [
  [first("arrive"), first("fail", 4)],
  [first("wait", 15), first("tick")],
  [first("answerProbe")],
];

/** Takes a fresh crowd to one of the phases from which schedules begin. */
export function begin(crowd: Crowd, phase: number): void {
  for (const each of beginning.slice(0, phase).flat()) crowd.run(each);
}

/** Workers of the process, the phase it is in, and what its workers and the world do from then on. */
export const schedules = fc.tuple(
  fc.integer({ min: 2, max: mostWorkers }),
  fc.nat(beginning.length),
  fc.commands<NoModel, Crowd>([turn.map((each) => new TurnCommand(each))], {
    maxCommands: mostTurns,
    size: "max",
  }),
);

/** What a worker may do next; which of its streams it is about, and how, is in the step's other numbers. */
export const stepKinds = [
  "arrive",
  "succeed",
  "fail",
  "mild",
  "leave",
  "tick",
  "answerProbe",
  "firstTokens",
  "wait",
  "word",
  "orders",
  "restart",
] as const;

export type StepKind = (typeof stepKinds)[number];

/** One step of one worker. Numbers are taken modulo what there is. */
export interface Step {
  readonly kind: StepKind;
  readonly worker: number;
  /** Which of the streams, probes or choices. */
  readonly pick: number;
}

/** A step and what comes between its worker's read and write. */
export interface Turn {
  readonly step: Step;
  /** Other workers' steps, each within a read of the one before it or of `step`. */
  readonly within: readonly Step[];
  /** Writes that the store refuses although nobody was faster. */
  readonly refusals: number;
}

export function describeTurn({ step, within, refusals }: Turn): string {
  const inner = within.length > 0 ? ` {${within.map(describeStep).join(", ")}}` : "";
  return `${describeStep(step)}${refusals > 0 ? ` refused ${refusals} times` : ""}${inner}`;
}

function describeStep({ kind, worker, pick }: Step): string {
  return `${kind}(${worker}, ${pick})`;
}

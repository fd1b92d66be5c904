import { monotonicMs } from "../../demo/clock.js";
import { parseTransition, type Transition as TransitionLine } from "../../demo/story/transitions.js";
import type { LogLines } from "../support/log-lines.js";

/** `atMs` is on the monotonic clock, which all processes of the machine share. */
export interface Transition extends TransitionLine {
  readonly gateway: number;
  readonly openings: number;
}

/** What an Envoy's log tells of one backend, after the beginning; every line is read once. */
export class TransitionLog {
  private readonly all: Transition[];
  private read = 0;

  constructor(
    private readonly log: LogLines,
    private readonly gateway: number,
    private readonly backend: string,
  ) {
    const state = { from: "CLOSED", to: "CLOSED", cause: "STARTED", generation: 0, openings: 0 } as const;
    this.all = [{ ...state, backend, gateway, atMs: monotonicMs() }];
  }

  refresh(): readonly Transition[] {
    const lines = this.log.all;
    for (; this.read < lines.length; this.read++) {
      const transition = parseTransition(lines[this.read] ?? "");
      if (transition?.backend !== this.backend) continue;
      this.all.push({ openings: 0, ...transition, gateway: this.gateway });
    }
    return this.all;
  }
}

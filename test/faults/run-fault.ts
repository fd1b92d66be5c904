import type { Rig } from "../e2e/support/rig.js";
import { askOf, healthy } from "./answers.js";
import { call, type Received, summary } from "./caller.js";
import { type Attempts, attemptsOf, type Commit, type SharedService, startChain } from "./chain.js";
import { type Check, check, commonChecks, ownChecks } from "./checks.js";
import type { Fault } from "./faults.js";

/** What came of one fault under one commit mode. */
export interface Result {
  readonly fault: string;
  readonly what: string;
  readonly commit: Commit;
  readonly callerGot: string;
  readonly attempts: Attempts;
  readonly seconds: number;
  readonly answeredBy: string;
  readonly calls: readonly Received[];
  readonly checks: readonly Check[];
}

export async function runFault(fault: Fault, commit: Commit, service: SharedService): Promise<Result> {
  const rig = await startChain({ commit, service });
  const calls: Received[] = [];
  try {
    play(rig, fault, commit);
    for (const stream of fault.streams ?? [true]) calls.push(await call(rig.url, stream));
  } finally {
    await rig.stop();
  }
  const attempts = attemptsOf(rig);
  const first = rig.gpu.arrivals[0]?.mode;
  const sent = first?.kind === "status" ? first.body : undefined;
  const checks = [
    ...commonChecks(commit, fault.demands, calls, attempts, sent),
    ...ownChecks(fault.demands, calls, attempts),
  ];
  return {
    fault: fault.name,
    what: fault.what,
    commit,
    callerGot: calls.map(summary).join(", "),
    attempts,
    seconds: Math.max(...calls.map(({ seconds }) => seconds)),
    answeredBy: answererOf(calls),
    calls,
    checks,
  };
}

/** Each who answered once; an answer that no tier's name stands on is Envoy's own. */
export function answererOf(calls: readonly Received[]): string {
  return [...new Set(calls.map(({ answeredBy }) => answeredBy ?? "Envoy"))].join(", ");
}

export function play(rig: Rig, fault: Pick<Fault, "primary" | "second">, commit: Commit): void {
  let attempt = 0;
  rig.gpu.mode = (arrival) => fault.primary(askOf(arrival), ++attempt, commit);
  rig.small.mode = (arrival) => (fault.second ?? ((ask) => healthy("small", ask)))(askOf(arrival));
  rig.public_.mode = (arrival) => healthy("public", askOf(arrival));
}

/** A run that could not be made is a failed check, and the others still run. */
export function unrun(fault: Pick<Fault, "name" | "what">, commit: Commit, error: unknown): Result {
  const detail = error instanceof Error ? error.message : String(error);
  return {
    fault: fault.name,
    what: fault.what,
    commit,
    callerGot: "not run",
    attempts: { gpu: 0, small: 0, public: 0 },
    seconds: 0,
    answeredBy: "",
    calls: [],
    checks: [check("the fault could be played", false, detail)],
  };
}

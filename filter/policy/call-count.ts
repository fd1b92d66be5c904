import { Text } from "../host/text";

/** This VM's calls in flight at one backend. Outlives policies: so do the calls. */
@final
export class CallCount {
  readonly key: Text;
  inFlight: i32 = 0;
  /** What shared data has of it. */
  told: i32 = 0;
  toldUntilMs: u64 = 0;

  constructor(readonly alias: string) {
    this.key = Text.of("llm.breaker/calls/" + alias);
  }
}

const counts: CallCount[] = [];

/** The one count of a backend, whichever policy asks. */
export function callCountOf(alias: string): CallCount {
  for (let i = 0; i < counts.length; i++) {
    if (counts[i].alias === alias) return counts[i];
  }
  counts.push(new CallCount(alias));
  return counts[counts.length - 1];
}

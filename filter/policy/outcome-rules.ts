import { Outcome } from "../breaker/outcome";
import { BodyRules } from "../bytes/body-rules";
import { FAILURES } from "./failure";

const LEAST_STATUS: i32 = 300;
const STATUSES: i32 = 300;
const FULL_WEIGHT: u32 = 100;
const UNSET: u8 = 0xff;

/** What counts as what at one backend, where the operator says other than the defaults. */
@final
export class OutcomeRules {
  private readonly statuses: StaticArray<u8> = new StaticArray<u8>(STATUSES).fill(UNSET);
  /** Hundredths of a failure, by `Failure`. */
  readonly weights: StaticArray<u32> = new StaticArray<u32>(FAILURES).fill(FULL_WEIGHT);
  /** Texts in the first 4 KiB of an answer's body, and the outcome of each. */
  body: BodyRules | null = null;
  bodyOutcomes: StaticArray<u8> = new StaticArray<u8>(0);

  /** The outcome an operator gave a status, or -1. */
  ofStatus(status: i32): i32 {
    const at = status - LEAST_STATUS;
    if (<u32>at >= <u32>STATUSES) return -1;
    const outcome = unchecked(this.statuses[at]);
    return outcome === UNSET ? -1 : <i32>outcome;
  }

  /** False when the status has another outcome already. */
  setStatus(status: i32, outcome: Outcome): bool {
    const before = this.ofStatus(status);
    this.statuses[status - LEAST_STATUS] = <u8>outcome;
    return before < 0 || before === outcome;
  }

  forgetStatuses(): void {
    this.statuses.fill(UNSET);
  }

  forgetBody(): void {
    this.body = null;
    this.bodyOutcomes = new StaticArray<u8>(0);
  }
}

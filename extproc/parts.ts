/** What tests put in the place of the real thing. */
export interface ServiceParts {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

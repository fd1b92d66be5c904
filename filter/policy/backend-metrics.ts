/** Envoy stats of one backend, all named `llm_breaker.<backend>.<name>`. */
@final
export class BackendMetrics {
  state: u32 = 0;
  /** For the workers themselves: `filter/steady.ts`. */
  steady: u32 = 0;
  permitted: i32 = 0;
  refused: i32 = 0;
  success: i32 = 0;
  failure: i32 = 0;
  backpressure: i32 = 0;
  neutral: i32 = 0;
  late: i32 = 0;
  canaries: i32 = 0;
  probes: i32 = 0;
  opened: i32 = 0;
  closed: i32 = 0;
  lostUpdates: i32 = 0;
  holdOverflow: i32 = 0;
  /** Openings that were only reported: `enforcingPercent`, or a forced mode. */
  reported: i32 = 0;
  slow: i32 = 0;
  /** Passed over since `maxConcurrentCalls` were in flight. */
  limited: i32 = 0;
  /** Passed over since the engine's queue was long and the request's class can wait. */
  shed: i32 = 0;
  /** Named for requests that an earlier tier did not serve. */
  diverted: i32 = 0;
  /** Milliseconds to the first token. */
  firstToken: u32 = 0;
}

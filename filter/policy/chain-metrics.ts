/** Envoy stats of one chain, all named `llm_breaker_chain.<chain>.<name>`. */
@final
export class ChainMetrics {
  requests: i32 = 0;
  /** Refused: no tier may answer. */
  exhausted: i32 = 0;
  /** Refused: a tier may, but for its queue. */
  shed: i32 = 0;
  /** Left to the service to answer in a tier's place. */
  substituted: i32 = 0;
  /** Every tier that was asked has failed. */
  failed: i32 = 0;
}

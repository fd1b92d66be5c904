import type { CanaryLimits } from "./canary-ask.js";
import type { RequestFacts } from "./facts.js";

/**
 * Whether a half-open backend may be tried with this request: size known and small, output small, text only.
 * An unlimited ask counts as the cap itself, times its answers.
 */
export function isCanary(facts: RequestFacts, limits: CanaryLimits | undefined): boolean {
  if (limits === undefined || facts.promptTokens === undefined || facts.output.kind === "odd") return false;
  if (facts.media.images + facts.media.audio > 0) return false;
  const tokensEach = facts.output.kind === "limited" ? facts.output.tokensEach : limits.maxOutputTokens;
  return (
    facts.promptTokens <= limits.maxPromptTokens &&
    facts.output.answers * tokensEach <= limits.maxOutputTokens
  );
}

import { setImmediate } from "node:timers/promises";
import type { Attributes } from "../attributes.js";
import { callerOf } from "../callers/caller.js";
import type { CallerSettings } from "../callers/settings.js";
import type { Admission, Limiter, LimitRequest } from "../limits/limiter.js";
import type { ImmediateAnswer } from "../messages.js";
import { limitReply } from "../reply/limit-reply.js";
import type { Exchange } from "../role.js";
import type { Warn } from "../telemetry/warn-once.js";
import { type Facts, inStage } from "../traces/trace.js";
import type { RequestFacts } from "./facts.js";
import { outputTokensOf } from "./metadata.js";

/** The expressions in `request_attributes` that bring whether the chain has limits, and the route's class. */
export const LIMITS_ATTRIBUTE = "filter_state['wasm.llm.breaker.limits']";
export const CLASS_ATTRIBUTE = "xds.route_metadata.filter_metadata['llm.breaker'].class";

/** What is needed to hold callers to their limits. */
export interface LimitParts {
  readonly limiter: Pick<Limiter, "admit" | "cancel">;
  readonly callers: CallerSettings;
}

export type LimitOutcome =
  | { readonly refusal: ImmediateAnswer }
  /** Texts for the dynamic metadata: `reservation` and the headers `x-ratelimit-*`. */
  | { readonly texts: Readonly<Record<string, string>> };

interface Circumstances {
  /** Whether Envoy has stopped to wait for the answer, so that what was reserved would never be settled. */
  readonly isOver: () => boolean;
  /** Told of a set-up that limits nobody, or all as one. */
  readonly warn: Warn;
}

const UNLIMITED: LimitOutcome = { texts: {} };

/** Asks the caller's limits; a chain without limits is not held to any. */
export async function askLimits(
  parts: LimitParts | undefined,
  { headers, attributes, trace }: Exchange,
  facts: RequestFacts,
  { isOver, warn }: Circumstances,
): Promise<LimitOutcome> {
  if (!attributes.get(LIMITS_ATTRIBUTE)) return UNLIMITED;
  if (parts === undefined) {
    warn("a chain of the policy has limits, but this configuration has none: nobody is limited");
    return UNLIMITED;
  }
  const caller = callerOf(headers, parts.callers);
  // That such requests have no limits is somebody's choice.
  if (caller === undefined && parts.callers.anonymous === "shared") warn(namelessIn(parts.callers));
  const request: LimitRequest = {
    caller,
    className: classOf(attributes),
    promptTokens: facts.promptTokens,
    outputTokens: outputTokensOf(facts),
    answers: facts.output.kind === "odd" ? 1 : facts.output.answers,
  };
  const admit = () => parts.limiter.admit(request);
  const admission = await inStage(trace, "limit", admit, (given) => admissionFacts(given, request));
  if (!admission.allowed) return { refusal: limitReply(admission) };
  await heardOfCallers();
  if (isOver()) parts.limiter.cancel(admission.reservation);
  return { texts: { ...admission.headers, reservation: admission.reservation } };
}

function namelessIn({ headers }: CallerSettings): string {
  return `a request has none of callers.headers (${headers.join(", ")}): all such are one caller; forward_rules of llm.breaker.count must name these headers`;
}

/**
 * Lets the event loop read what has come. A caller who left while others were counted is heard of only then, and what he was
 * given would be settled by nobody: Envoy logs no reservation that it has not got.
 */
async function heardOfCallers(): Promise<void> {
  // The first is before the loop asks its sockets, the second after it.
  await setImmediate();
  await setImmediate();
}

/** Not who the caller is: what names him may be his key. */
function admissionFacts(admission: Admission, { className }: LimitRequest): Facts {
  return {
    "llm_breaker.class": className,
    "llm_breaker.allowed": admission.allowed,
    "llm_breaker.limit": admission.allowed ? undefined : admission.reason,
  };
}

function classOf(attributes: Attributes): string {
  return attributes.get(CLASS_ATTRIBUTE) || "default";
}

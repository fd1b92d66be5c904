import { z } from "@hono/zod-openapi";
import { MAX_DURATION_MS, MAX_WHO_LENGTH, MAX_WHY_LENGTH } from "./overrides.js";
import { isPlain } from "./words.js";

/*
 * What the control API takes and gives: one schema is the check, the type and the OpenAPI description. Durations that it takes are
 * texts with a unit, those that it gives are milliseconds.
 */

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;

/** A text like "15m". */
export function durationText(leastMs: number, mostMs: number, rule: string) {
  return z.string(rule).refine((given) => {
    const ms = durationMs(given);
    return ms >= leastMs && ms <= mostMs;
  }, rule);
}

/** NaN for what is no duration. */
export function durationMs(given: string): number {
  const [, number, unit] = DURATION.exec(given) ?? [];
  return Number(number) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
}

const plainText = (least: number, most: number) =>
  z
    .string("must be a text")
    .min(least, "must say something")
    .refine((text) => least === 0 || text.trim() !== "", "must say something")
    .max(most, `must be at most ${most} characters`)
    .refine(isPlain, "must be one line without control characters");

const who = plainText(1, MAX_WHO_LENGTH).optional().openapi({
  description: "Who does it. With a token or a client certificate its name is added.",
  example: "ada",
});
const why = plainText(1, MAX_WHY_LENGTH).openapi({
  description: "For the log and the history.",
  example: "driver update",
});

export const setSchema = z
  .strictObject({
    for: durationText(1000, MAX_DURATION_MS, 'must be a duration from "1s" to "7d", like "15m"')
      .default("1h")
      .openapi({ description: "After so long the policy holds again, by itself.", example: "15m" }),
    why,
    who,
  })
  .openapi("Set");

export const resetSchema = z.strictObject({ why, who }).openapi("Reset");

export const withdrawSchema = z.object({
  why: plainText(0, MAX_WHY_LENGTH).optional(),
  who,
});

const stateSchema = z.enum(["CLOSED", "OPEN", "HALF_OPEN"]).openapi("State");
const modeSchema = z.enum(["enforce", "shadow", "disabled", "forcedOpen", "forcedClosed"]).openapi("Mode");
const whole = z.int();

const windowSchema = z
  .object({
    calls: whole,
    failures: whole,
    weightedFailures: z.number().openapi({ description: "Each failure by the policy's weight." }),
    failureRate: z.number().openapi({ description: "Percent of the calls; 0 without any." }),
    backpressure: whole,
    outOfMemory: whole,
    firstTokens: whole,
    slowCalls: whole,
    consecutiveFailures: whole.openapi({ description: "Of the gateway with the longest streak." }),
  })
  .openapi("Window");

const backendGatewaySchema = z
  .object({
    node: z.string(),
    process: z.string(),
    policy: z.string(),
    state: stateSchema,
    stage: whole.openapi({ description: "HALF_OPEN: 0 = probing, n = stage n of the ramp." }),
    mode: modeSchema,
    policyMode: modeSchema,
    cause: z.string().openapi({ description: "Why the last transition happened." }),
    generation: whole,
    openings: whole.openapi({ description: "Openings in a row." }),
    stateAgeMs: whole,
    waitRemainingMs: whole,
    isEvidence: z.boolean().openapi({ description: "This opening began by the gateway's own evidence." }),
    canaries: whole.openapi({ description: "In flight." }),
    window: windowSchema,
  })
  .openapi("BackendGateway");

export const overrideSchema = z
  .object({
    backend: z.string(),
    mode: modeSchema,
    remainingMs: whole,
    who: z.string(),
    why: z.string(),
  })
  .openapi("Override");

const signalsSchema = z
  .object({
    isFresh: z.boolean(),
    kvCacheUse: z.number().optional().openapi({ description: "0 to 1; absent: unknown." }),
    waiting: z.number().optional().openapi({ description: "Requests that wait; absent: unknown." }),
    isQueueLong: z.boolean(),
  })
  .openapi("Signals");

const loadSchema = z
  .object({
    kvCacheUse: z.number().optional().openapi({ description: "0 to 1; absent: unknown." }),
    waiting: z.number().optional().openapi({ description: "Requests that wait; absent: unknown." }),
  })
  .openapi("Load");

const groupSchema = z
  .object({
    live: whole,
    evidence: whole.openapi({ description: "Gateways that opened on their own evidence." }),
    prober: z.string().optional(),
  })
  .openapi("Group");

const latencySchema = z
  .object({
    samples: whole,
    p50Ms: whole,
    p99Ms: whole,
    judgedPercentile: whole.openapi({ description: "95 or 99: what drift is judged by." }),
    judgedMs: whole,
    baselineMs: whole.optional().openapi({ description: "Absent: not learnt yet." }),
  })
  .openapi("Latency");

export const backendSchema = z
  .object({
    name: z.string(),
    state: stateSchema.openapi({ description: "The worst of all gateways." }),
    mode: modeSchema.openapi({ description: "What holds on the gateway of that state." }),
    openings: whole,
    waitRemainingMs: whole.openapi({ description: "The longest." }),
    cause: z.string(),
    window: windowSchema.openapi({ description: "All gateways together." }),
    override: overrideSchema.optional(),
    signals: signalsSchema.optional(),
    load: loadSchema
      .optional()
      .openapi({ description: "What answers' headers told any gateway in the last 5 s, the worst of it." }),
    latency: latencySchema
      .optional()
      .openapi({ description: "Times to the first token on the gateway that saw most of them lately." }),
    group: groupSchema.optional(),
    gateways: z.array(backendGatewaySchema),
  })
  .openapi("Backend");

export const backendsSchema = z.object({ backends: z.array(backendSchema) }).openapi("Backends");

const entryBase = { id: whole, at: z.string(), backend: z.string() };

export const transitionSchema = z
  .object({
    ...entryBase,
    kind: z.literal("transition"),
    node: z.string(),
    process: z.string(),
    policy: z.string(),
    from: stateSchema,
    to: stateSchema,
    stage: whole,
    cause: z.string(),
    generation: whole,
    openings: whole,
    waitMs: whole,
    calls: whole,
    weightedFailures: z.number(),
    failureRate: z.number().openapi({ description: "Percent of the calls; 0 without any." }),
    consecutiveFailures: whole,
    who: z.string().optional().openapi({ description: "The operator whose reset it follows from." }),
    why: z.string().optional(),
  })
  .openapi("Transition");

export const operatorSchema = z
  .object({
    ...entryBase,
    kind: z.literal("operator"),
    action: z.enum(["open", "close", "disable", "reset", "withdraw", "learned", "ended"]).openapi({
      description: "learned: a gateway, or another service, knew of it. ended: its time was over.",
    }),
    mode: modeSchema.optional(),
    forMs: whole.optional(),
    who: z.string(),
    why: z.string(),
  })
  .openapi("OperatorEntry");

export const entrySchema = z.discriminatedUnion("kind", [transitionSchema, operatorSchema]).openapi("Entry");

export const historySchema = z
  .object({ entries: z.array(entrySchema).openapi({ description: "Oldest first." }) })
  .openapi("History");

export const gatewaysSchema = z
  .object({
    gateways: z.array(
      z.object({
        node: z.string(),
        process: z.string(),
        policy: z.string(),
        silentMs: whole.openapi({ description: "Since its last report." }),
        backends: whole,
      }),
    ),
  })
  .openapi("Gateways");

export const chainsSchema = z
  .object({
    chains: z.array(
      z.object({
        policy: z.string(),
        name: z.string(),
        tiers: z.array(z.string()).openapi({ description: "Backends, the first choice first." }),
      }),
    ),
  })
  .openapi("Chains");

const trendPointSchema = z.object({
  permitted: whole,
  refused: whole.openapi({ description: "Refused, limited or shed." }),
  diverted: whole,
  success: whole,
  failure: whole,
  state: stateSchema.optional().openapi({ description: "The worst at its end; absent: nobody reported." }),
});

export const trendsSchema = z
  .object({
    periodMs: whole.openapi({ description: "How long a point is." }),
    endMs: whole.openapi({ description: "End of the last point; milliseconds since 1970." }),
    backends: z.array(
      z.object({
        name: z.string(),
        points: z.array(trendPointSchema).openapi({
          description: "The last 15 minutes, or what came after `after`; oldest first, none left out.",
        }),
      }),
    ),
  })
  .openapi("Trends");

export const peersSchema = z
  .object({
    engine: z.enum(["gossip", "redis", "none"]),
    members: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        isSelf: z.boolean(),
        isLive: z.boolean(),
        silentMs: whole,
        backends: whole.openapi({ description: "Backends that its gateways report." }),
      }),
    ),
  })
  .openapi("Peers");

export const errorSchema = z
  .object({ error: z.object({ message: z.string(), field: z.string().optional() }) })
  .openapi("Error");

export type BackendView = z.output<typeof backendSchema>;
export type WindowView = z.output<typeof windowSchema>;
export type GatewaysView = z.output<typeof gatewaysSchema>;
export type OverrideView = z.output<typeof overrideSchema>;
export type EntryView = z.output<typeof entrySchema>;
export type OperatorView = z.output<typeof operatorSchema>;
export type HistoryView = z.output<typeof historySchema>;
export type ChainsView = z.output<typeof chainsSchema>;
export type TrendsView = z.output<typeof trendsSchema>;
export type PeersView = z.output<typeof peersSchema>;

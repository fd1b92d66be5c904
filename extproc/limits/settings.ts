import { z } from "zod";
import { count, duration, ratio, text, url } from "../config/fields.js";

/** Longer windows would let old usage count for hours; nothing a provider states is per more than a minute. */
const limits = {
  tokensPerMinute: count(0)
    .optional()
    .describe(
      "Prompt and completion tokens of one caller in any 60 s, before `headroom`. 0 or absent: no limit.",
    ),
  requestsPerMinute: count(0)
    .optional()
    .describe("Requests of one caller in any 60 s. 0 or absent: no limit."),
  concurrent: count(0)
    .optional()
    .describe("Requests of one caller that may be under way at once. 0 or absent: no limit."),
};

const className = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be a class name of letters, digits, dots, dashes");

export const limitsSettings = z
  .strictObject({
    ...limits,
    headroom: ratio(0.01, 1)
      .default(0.8)
      .describe(
        "The share of `tokensPerMinute` that is given out; the rest is for counts that were too low.",
      ),
    defaultPromptTokens: count(0)
      .default(1000)
      .describe("Reserved for a prompt of unknown size until its real usage is known. Tokens."),
    defaultOutputTokens: count(0)
      .default(1024)
      .describe(
        "Reserved for an answer whose length the caller leaves open, until its usage is known. Tokens.",
      ),
    leaseTimeout: duration
      .prefault("5m")
      .refine((ms) => ms >= 30_000 && ms <= 86_400_000, "must be from 30s to 24h")
      .describe("A request whose end is never heard of is under way for so long."),
    classes: z
      .record(className, z.strictObject(limits))
      .default({})
      .describe(
        "Limits of requests whose route metadata has `class`, each with budgets of its own; what is absent is as above.",
      ),
    redis: z
      .strictObject({
        url: url("redis", "rediss").describe(
          "Where the gateways' common counts are, with user and password if need be.",
        ),
        keyPrefix: text.default("llm-breaker").describe("The start of every key."),
        timeout: duration
          .prefault("50ms")
          .describe("A slower Redis is taken for away: limits go on per gateway until it answers again."),
      })
      .optional()
      .describe("Absent: each gateway counts for itself, in memory."),
  })
  .optional()
  .meta({
    example: {
      tokensPerMinute: 100_000,
      requestsPerMinute: 600,
      concurrent: 20,
      classes: { vip: { tokensPerMinute: 400_000 }, batch: { tokensPerMinute: 50_000, concurrent: 4 } },
      redis: { url: "redis://127.0.0.1:6379" },
    },
  })
  .describe("Limits per caller, for chains whose policy says `limits`. Absent: none.");

export type LimitsSettings = Readonly<NonNullable<z.output<typeof limitsSettings>>>;
export type RedisSettings = NonNullable<LimitsSettings["redis"]>;

import { z } from "@hono/zod-openapi";
import { durationText } from "./schemas.js";

const HOUR_MS = 3_600_000;
const whole = z.int();

export const dryRunSchema = z
  .strictObject({
    policy: z
      .union([z.string(), z.record(z.string(), z.unknown())], "must be a policy: an object, or its text")
      .openapi({ description: "The gate's configuration, as an object or as text." }),
    backend: z.string().min(1).max(63).optional().openapi({ description: "Only this one." }),
    since: durationText(1000, HOUR_MS, 'must be a duration from "1s" to "1h", like "30m"')
      .default("1h")
      .openapi({ example: "30m" }),
  })
  .openapi("DryRun");

const openingSchema = z.object({
  at: z.string(),
  cause: z.string(),
  openings: whole,
  waitMs: whole,
  node: z.string().optional(),
});

const courseSchema = z
  .object({
    openings: z.array(openingSchema),
    openingCount: whole,
    notClosedMs: whole.openapi({ description: "Time in which the backend was not CLOSED." }),
  })
  .openapi("Course");

export const dryRunResultSchema = z
  .object({
    policy: z.string(),
    from: z.string(),
    to: z.string(),
    backends: z.array(
      z.object({
        name: z.string(),
        recorded: z.object({ seconds: whole, calls: whole, failures: whole }),
        replayed: courseSchema.extend({
          refusedCalls: whole.openapi({ description: "Recorded calls that would have gone elsewhere." }),
          endsAs: z.enum(["CLOSED", "OPEN", "HALF_OPEN"]),
        }),
        actual: courseSchema.openapi({ description: "On any gateway." }),
      }),
    ),
    notes: z.array(z.string()).openapi({ description: "What the replay can't know." }),
  })
  .openapi("DryRunResult");

export type DryRunAsk = z.output<typeof dryRunSchema>;
export type DryRunResult = z.output<typeof dryRunResultSchema>;
export type Opening = z.output<typeof openingSchema>;
export type Course = z.output<typeof courseSchema>;

import { z } from "zod";
import { count, duration, url } from "../config/fields.js";

/** It is named in a header, in a list. */
const backendName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be a backend's alias of letters, digits, dots, dashes");

const backend = z.strictObject({
  metrics: url("http", "https").describe("The engine's Prometheus page."),
  longQueue: count(1)
    .default(8)
    .describe("From so many waiting requests on the backend's degrade rules hold, on every attempt."),
});

export const signalsSettings = z
  .strictObject({
    period: duration
      .prefault("1s")
      .refine((ms) => ms >= 100 && ms <= 60_000, "must be from 100ms to 1m")
      .describe("How often each page is asked. What is older than 5 s counts as unknown."),
    backends: z
      .record(backendName, backend)
      .default({})
      .meta({ example: { gpu: { metrics: "http://127.0.0.1:8000/metrics", longQueue: 8 } } })
      .describe("Where backends tell how long their queues are, by the alias that the policy uses."),
  })
  .prefault({})
  .describe("What engines tell of themselves.");

export type SignalsSettings = Readonly<z.output<typeof signalsSettings>>;

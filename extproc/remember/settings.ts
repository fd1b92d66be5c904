import { z } from "zod";
import { count, duration } from "../config/fields.js";

export const cacheSettings = z
  .strictObject({
    maxBytes: count(0)
      .default(67_108_864)
      .describe(
        "Memory for the last good answers; the least recently used go first. 0 remembers none. Bytes.",
      ),
    maxAnswerBytes: count(1024)
      .default(1_048_576)
      .describe("A longer request, decompressed, or answer is not remembered. Bytes."),
    maxAge: duration.prefault("10m").describe("An older answer is forgotten."),
  })
  .prefault({})
  .describe("The last good answers, for chains whose `exhausted.action` is `cached`.");

/** Sizes in bytes, times in milliseconds. */
export type CacheSettings = Readonly<z.output<typeof cacheSettings>>;

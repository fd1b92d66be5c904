import { z } from "zod";

/** What a field's row in docs/configuration.md has beside its meaning. */
interface Row {
  /** What holds when the field is absent, as it would be written. */
  readonly default?: unknown;
  /** The same in words, where it is no value, or a long one. */
  readonly shown?: string;
  /** Which values there are, where the type does not say it. */
  readonly bounds?: string;
  /** Its parts have no rows of their own: the meaning tells them. */
  readonly isWhole?: boolean;
}

/** An optional field with its meaning. The policy goes to Envoy as it was written, so no default is filled in. */
export function field<Schema extends z.ZodType>(schema: Schema, meaning: string, row: Row = {}) {
  return schema.optional().meta({ description: meaning, ...row });
}

/** As many as a count may be told to be. */
export const MOST = 1_000_000;

export function whole(least: number, most: number) {
  const rule = `must be a whole number from ${least} to ${most}`;
  return z.number(rule).int(rule).min(least, rule).max(most, rule);
}

export function amount(most: number) {
  const rule = `must be a number from 0 to ${most}`;
  return z.number(rule).min(0, rule).max(most, rule);
}

export const percent = whole(0, 100);

export const flag = z.boolean("must be true or false");

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)$/;
const DURATION_RULE = 'must be a duration such as "250ms", "5s" or "2m"';

export const HOUR = "1h";

/** A text with its unit, between two such texts. */
export function duration(least: string, most: string) {
  const rule = `must be from ${least} to ${most}`;
  return z
    .string(DURATION_RULE)
    .regex(DURATION, { error: DURATION_RULE, abort: true })
    .refine((given) => durationMs(given) >= durationMs(least) && durationMs(given) <= durationMs(most), rule)
    .meta({ bounds: `${least === "0s" ? "0" : least}–${most}` });
}

/** Milliseconds, rounded as the filter does; NaN for what is no duration. */
export function durationMs(given: string): number {
  const [, number, unit] = DURATION.exec(given) ?? [];
  return Math.round(Number(number) * (UNIT_MS[unit ?? ""] ?? Number.NaN));
}

/** A text of a length in bytes, as the filter counts it. */
export function bytes(least: number, most: number) {
  const rule =
    least === 0 ? `must be at most ${most} bytes long` : `must be a text of ${least} to ${most} bytes`;
  return z
    .string(rule)
    .refine((given) => Buffer.byteLength(given) >= least && Buffer.byteLength(given) <= most, rule);
}

export const text = z.string("must be a text").min(1, "must not be empty");

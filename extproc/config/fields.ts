import { z } from "zod";

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)$/;
const DURATION_RULE = 'must be a duration like "150ms" or "10s"';

/** A text with its unit, milliseconds in code. Its default is a text too: `duration.prefault("10s")`. */
export const duration = z
  .string(DURATION_RULE)
  .regex(DURATION, DURATION_RULE)
  .transform((text) => {
    const [, number, unit] = DURATION.exec(text) ?? [];
    return Number(number) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  });

/** A whole number from `least` to `most`, or to what a number holds exactly. */
export const count = (least: number, most?: number) => {
  const field = z
    .number("must be a whole number")
    .int("must be a whole number")
    .min(least, `must be at least ${least}`);
  return most === undefined ? field : field.max(most, `must be at most ${most}`);
};

/** A number, broken ones too, from `least` to `most`. */
export const ratio = (least: number, most: number) =>
  z.number("must be a number").min(least, `must be at least ${least}`).max(most, `must be at most ${most}`);

/** `host:port`; an IPv6 host stands in brackets. Port 0 asks for a free one. */
export const address = z
  .string("must be host:port")
  .regex(/^(\[[0-9a-fA-F:.]+\]|[^:\s[\]]+):(\d{1,5})$/, { error: "must be host:port", abort: true })
  .refine((text) => Number(text.slice(text.lastIndexOf(":") + 1)) <= 65_535, "must be host:port");

/** Where to listen, or `off`. */
export const addressOrOff = z.union([z.literal("off"), address], 'must be host:port or "off"');

/** A text that says something. */
export const text = z
  .string("must be a text")
  .min(1, "must not be empty")
  .max(4096, "must be at most 4096 characters");

/** A name in which `*` stands for any text. */
export const glob = text;

/** At least one pattern. */
export const globs = z.array(glob, "must be a list of patterns").min(1, "must name at least one pattern");

const HEADER_RULE = "must be a header name in lower case, like x-api-key";

export const headerName = z.string(HEADER_RULE).regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/, HEADER_RULE);

/** An absolute address of one of `schemes`, like `http` or `redis`. */
export const url = (...schemes: string[]) => {
  const rule = `must be a URL like ${schemes.map((scheme) => `${scheme}://host:port`).join(" or ")}`;
  return z
    .string(rule)
    .regex(new RegExp(`^(${schemes.join("|")})://[^\\s]+$`), { error: rule, abort: true })
    .refine((given) => URL.canParse(given), rule);
};

export const flag = z.boolean("must be true or false");

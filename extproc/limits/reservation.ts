import { z } from "zod";

/** Where points were taken: a Redis that did not answer in time may have them as well as this process. */
export const PLACES = ["memory", "redis", "both"] as const;
export type Place = (typeof PLACES)[number];

const whole = z.int().min(0);
const taken = z.strictObject({ points: whole, leavesAtMs: whole, place: z.enum(PLACES) });

const schema = z.strictObject({
  caller: z.string().max(64),
  className: z.string().max(64),
  tokens: taken.optional(),
  requests: taken.optional(),
  concurrency: taken.optional(),
});

/** Points that one limit gave. `leavesAtMs`: when they stop counting. */
export type Taken = Readonly<z.output<typeof taken>>;

/**
 * What a request was given. It travels as a text, through Envoy and back with its access log, so that nothing needs to be
 * remembered for it, and a service that was started anew can settle what the one before it gave.
 */
export type Reservation = Readonly<z.output<typeof schema>>;

/** Characters; ours have about 300. */
const MAX_LENGTH = 1024;

export function writeReservation(reservation: Reservation): string {
  return JSON.stringify(reservation);
}

/** Undefined for anything that `writeReservation` can't have written. */
export function readReservation(text: string): Reservation | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

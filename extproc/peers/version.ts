import type { State } from "../sync/contract.js";

/** From the weakest to the strongest: of two words at once the more careful one holds. */
const PHASES: readonly State[] = ["CLOSED", "HALF_OPEN", "OPEN"];
const AUTHORS = 2 ** 24;
const ROUND = 4 * AUTHORS;

/** Rounds beyond are nobody's; one a second would take two years to get there. */
const MAX_ROUND = 2 ** 26;

/** No version is above; what tells of one is mistaken. */
export const MAX_VERSION = MAX_ROUND * ROUND;

/** What gateways tell counts below it only: after a mistaken one there must be higher versions left, for a year of one a second. */
export const MAX_TRACK = MAX_VERSION / 2;

/*
 * A version is one number that orders the words on a backend in full: by round, then OPEN before HALF_OPEN before CLOSED,
 * then by author. So records need to keep nothing but that number, and whoever takes the highest takes what all take.
 */

/** Rounds that are too high, as only a mistaken member tells them, are taken for the last one. */
export function versionOf(round: number, phase: State, author: number): number {
  return Math.min(round, MAX_ROUND - 1) * ROUND + PHASES.indexOf(phase) * AUTHORS + author;
}

export function roundOf(version: number): number {
  return Math.floor(version / ROUND);
}

export function phaseOf(version: number): State {
  return PHASES[Math.floor(version / AUTHORS) % 4] ?? "OPEN";
}

/** A member's part in its versions, by its id: 24 bits of FNV-1a. */
export function authorOf(member: string): number {
  return hash(member) % AUTHORS;
}

/** FNV-1a of 32 bits, stirred: neighbours in text shall not be neighbours in rank. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

import type { State } from "../sync/contract.js";
import type { MoveCause, Register } from "./message.js";
import { phaseOf } from "./version.js";

/** A day: what is longer is no wait but a mistake. */
const MAX_WAIT_MS = 86_400_000;

/** The group's word on a backend, its wait as a deadline of this process's clock. */
export interface Word extends Omit<Register, "waitMs"> {
  readonly phase: State;
  readonly waitUntilMs: number;
  readonly heardAtMs: number;
}

/** What a new word says; versions and shares come with it. */
export interface News {
  readonly phase: State;
  readonly stage: number;
  readonly openings: number;
  readonly waitMs: number;
  readonly cause: MoveCause;
}

export function heardWord(register: Register, now: number): Word {
  const { waitMs, ...rest } = register;
  return { ...rest, phase: phaseOf(register.version), waitUntilMs: now + waitMs, heardAtMs: now };
}

export function toldWord(word: Word, now: number): Register {
  const { version, stage, openings, cause, cap, isGrowing, shares } = word;
  return { version, stage, openings, waitMs: waitLeft(word, now), cause, cap, isGrowing, shares };
}

export function waitLeft(word: Word, now: number): number {
  if (word.phase !== "OPEN") return 0;
  return Math.max(0, Math.min(MAX_WAIT_MS, Math.ceil(word.waitUntilMs - now)));
}

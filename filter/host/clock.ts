import { clock_time_get, random_get } from "./abi";
import { RESULT } from "./result";

const MONOTONIC: u32 = 1;

/** Monotonic milliseconds: the same clock for every worker of a process. Wall time may step; decisions may not. */
export function nowMs(): u64 {
  clock_time_get(MONOTONIC, 1, RESULT);
  return load<u64>(RESULT) / 1_000_000;
}

let seed: u64 = 0;

/** 32 random bits (xorshift64*), seeded once a VM from the host: for jitter and draws, not for secrets. */
export function random32(): u32 {
  if (seed === 0) {
    random_get(RESULT, 8);
    seed = load<u64>(RESULT) | 1;
  }
  seed ^= seed >> 12;
  seed ^= seed << 25;
  seed ^= seed >> 27;
  return <u32>((seed * 0x2545f4914f6cdd1d) >> 32);
}

/** Begins the draws of a seed, the same in each run; the host is not asked. For tests: no position calls it. */
export function startDraws(from: u32): void {
  seed = ((<u64>from + 1) * 0x9e3779b97f4a7c15) | 1;
}

/** Fills 8 bytes from the host's cryptographic generator. */
export function secret64(): u64 {
  random_get(RESULT, 8);
  return load<u64>(RESULT);
}

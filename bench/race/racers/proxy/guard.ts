import { pathToFileURL } from "node:url";

/**
 * Makes a call of one node, or refuses to. The call's signal says when its first byte is too late.
 * @throws what the call threw, or the library's refusal without having made it
 */
export type Guard = <T>(call: (signal: AbortSignal) => Promise<T>, firstByteMs: number) => Promise<T>;

export interface GuardSettings {
  /** Calls that may wait for their first byte at once. */
  readonly capacity: number;
  /** From opening until one call is let through again. */
  readonly waitMs: number;
  /** Whether an error tells something about the node. */
  readonly isFailure: (error: unknown) => boolean;
}

export type CreateGuard = (settings: GuardSettings) => Guard;

/** The guard that a library makes; its file exports `createGuard`, and stands beside the packages that it needs. */
export async function loadCreateGuard(file: string): Promise<CreateGuard> {
  const library = (await import(pathToFileURL(file).href)) as { createGuard: CreateGuard };
  return library.createGuard;
}

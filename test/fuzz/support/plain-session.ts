import type { Session, Told } from "../target.js";
import type { Random } from "./random.js";

type Run = (bytes: Buffer, random: Random) => Told | Promise<Told>;

/** A session without anything of its own. */
export function sessionOf(run: Run): () => Session {
  return () => ({ run });
}

export function toBuffers(texts: readonly string[]): Buffer[] {
  return texts.map((text) => Buffer.from(text));
}

/** What `attempt` gives; undefined when it throws one of the errors that it declares. Any other one is a finding. */
export function unlessDeclared<T>(
  attempt: () => T,
  ...declared: readonly (abstract new (
    ...args: never[]
  ) => Error)[]
): T | undefined {
  try {
    return attempt();
  } catch (cause) {
    if (declared.some((kind) => cause instanceof kind)) return undefined;
    throw cause;
  }
}

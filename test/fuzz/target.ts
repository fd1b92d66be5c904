import type { Random } from "./support/random.js";

/** One parser, or a few that take the same bytes. */
export interface Target {
  readonly name: string;
  /** The sources whose reading of foreign bytes it tries out, as paths from the repository's root. */
  readonly parsers: readonly string[];
  /** Real messages, which cases are made of. */
  readonly seeds: readonly Buffer[];
  /** What means something to the parser. */
  readonly words?: readonly string[];
  /** Of a case, if not 2048. */
  readonly maxBytes?: number;
  /** Up to so many bytes twice as many may take twice the time, if not 131072; 0: not judged, since the parser is bounded otherwise. */
  readonly linearBytes?: number;
  /** What one case may take, if not 40 ms. */
  readonly caseMs?: number;
  /** Where a case is dear and its parser has a target of its own: one case for so many of the others'. */
  readonly oneCaseFor?: number;
  open(): Promise<Session> | Session;
}

/** What is told of a case, coarsely: bytes that tell something new are worth changing further. Empty: the bytes are refused. */
export type Told = string;

export interface Session {
  /** @throws whatever an oracle says that does not hold */
  run(bytes: Buffer, random: Random): Told | Promise<Told>;
  /** Bytes that the parser's own memory has. */
  memoryBytes?(): number;
  close?(): Promise<void> | void;
}

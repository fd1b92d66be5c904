import { type EngineFigures, EngineMetrics, METRIC_NAMES } from "./engine-metrics.js";
import { readSample } from "./sample-line.js";

/** A line of ours is some 100 bytes; what is longer than this is dropped. */
const MAX_LINE_BYTES = 8_192;

const NEWLINE = 0x0a;
const BLANKS = Buffer.from(" \t");
const BEHIND_NAME = Buffer.from(" \t{");

/** In a line that is none of ours. */
const ELSEWHERE = 0;
/** Before a name. */
const START = 1;

/**
 * Names as a machine over bytes: from a state and a byte to the next state, at `state × 256 + byte`. States from
 * `found` on say that a name of ours stands before the byte: METRIC_NAMES[state - found].
 */
interface NameMachine {
  readonly next: Int16Array;
  readonly found: number;
}

function toMachine(names: readonly string[]): NameMachine {
  const found = START + 1 + names.reduce((sum, name) => sum + name.length, 0);
  const next = new Int16Array(found * 256);
  // A new line may begin anywhere.
  for (let state = 0; state < found; state++) next[state * 256 + NEWLINE] = START;
  for (const blank of BLANKS) next[START * 256 + blank] = START;
  let states = START;
  for (const [index, name] of names.entries()) {
    let state = START;
    for (const byte of Buffer.from(name)) {
      const place = state * 256 + byte;
      if (next[place] === ELSEWHERE) next[place] = ++states;
      state = next[place] as number;
    }
    for (const byte of BEHIND_NAME) next[state * 256 + byte] = found + index;
  }
  return { next, found };
}

const { next, found } = toMachine(METRIC_NAMES);

/**
 * Reads a page as its pieces come, whatever they are cut at: one look at each byte, a text only of the lines that
 * tell something we know, nothing else kept. So the largest page holds up the event loop no longer than one piece does.
 */
export class PageScanner {
  private readonly metrics = new EngineMetrics();
  private state = START;
  /** What the pieces before had of the line behind a name of ours. */
  private rest = "";

  feed(piece: Uint8Array): void {
    let at = 0;
    while (at < piece.length) at = this.state < found ? this.search(piece, at) : this.readRest(piece, at);
  }

  /** What the page told, its last line ended or not. */
  end(): EngineFigures {
    if (this.state >= found) this.endLine();
    return this.metrics.figures();
  }

  /** Goes on to the next name of ours, and stands behind it. */
  private search(piece: Uint8Array, from: number): number {
    let state = this.state;
    let at = from;
    for (; at < piece.length; at++) {
      state = next[(state << 8) | (piece[at] as number)] as number;
      if (state >= found) break;
    }
    this.state = state;
    return at;
  }

  private readRest(piece: Uint8Array, from: number): number {
    const end = piece.indexOf(NEWLINE, from);
    const to = end === -1 ? piece.length : end;
    if (this.rest.length + to - from > MAX_LINE_BYTES) {
      this.rest = "";
      this.state = ELSEWHERE;
      return to;
    }
    this.rest += Buffer.from(piece.buffer, piece.byteOffset + from, to - from).toString("latin1");
    if (end === -1) return to;
    this.endLine();
    return end + 1;
  }

  private endLine(): void {
    const sample = readSample(this.rest);
    if (sample !== undefined) this.metrics.add(METRIC_NAMES[this.state - found] ?? "", sample);
    this.rest = "";
    this.state = START;
  }
}

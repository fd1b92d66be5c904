import type { AnswerEditor } from "../dialects/answer-editor.js";
import { Fate, ModelScanner } from "./model-scanner.js";
import { PayloadLines, Place } from "./payload-lines.js";

/**
 * Puts the caller's name of the model into an answer, wherever the answer names its model; every other byte stays.
 * Pieces may be cut anywhere, and none is held back.
 */
export class ModelEditor implements AnswerEditor {
  private readonly scanner = new ModelScanner();
  private readonly lines: PayloadLines | undefined;
  private readonly name: Buffer;

  constructor(callersModel: string, isEventStream: boolean) {
    this.name = Buffer.from(JSON.stringify(callersModel));
    this.lines = isEventStream ? new PayloadLines() : undefined;
  }

  push(piece: Buffer): Buffer {
    const parts: Buffer[] = [];
    /** Where the bytes begin that were kept and are not in `parts` yet. */
    let keptFrom = 0;
    for (let at = 0; at < piece.length; at++) {
      const fate = this.fateOf(piece[at] as number);
      if (fate === Fate.Keep) continue;
      if (at > keptFrom) parts.push(piece.subarray(keptFrom, at));
      if (fate === Fate.Replace) parts.push(this.name);
      keptFrom = at + 1;
    }
    if (keptFrom === 0) return piece;
    parts.push(piece.subarray(keptFrom));
    return Buffer.concat(parts);
  }

  private fateOf(byte: number): Fate {
    if (this.lines === undefined) return this.scanner.next(byte);
    const place = this.lines.next(byte);
    if (place === Place.Payload) return this.scanner.next(byte);
    if (place === Place.EventEnd) this.scanner.reset();
    return Fate.Keep;
  }
}

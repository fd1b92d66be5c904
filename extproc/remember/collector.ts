/** What all live streams may have collected together. Bytes. */
const MAX_TOGETHER = 67_108_864;
let together = 0;

/** Puts a body together from its pieces, up to a limit; beyond it, or once dropped, it keeps nothing. */
export class Collector {
  private pieces: Buffer[] = [];
  private size = 0;
  private isDropped = false;

  constructor(private readonly maxBytes: number) {}

  add(piece: Buffer): void {
    if (this.isDropped) return;
    if (this.size + piece.length > this.maxBytes || together + piece.length > MAX_TOGETHER) {
      this.drop();
      return;
    }
    this.pieces.push(piece);
    this.size += piece.length;
    together += piece.length;
  }

  /** Undefined when it was too much. */
  whole(): Buffer | undefined {
    return this.isDropped ? undefined : Buffer.concat(this.pieces);
  }

  /** Gives the memory back. */
  drop(): void {
    this.isDropped = true;
    together -= this.size;
    this.size = 0;
    this.pieces = [];
  }
}

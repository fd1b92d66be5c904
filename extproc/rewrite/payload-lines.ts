const LF = 0x0a;
const CR = 0x0d;
const PREFIX = Buffer.from("data:");

export enum Place {
  /** A byte of the payload. */
  Payload,
  /** Anything else: field names, comments, line ends. */
  Other,
  /** The line end that completes an event. */
  EventEnd,
}

/** Tells, byte by byte, where an event stream's payloads are (WHATWG HTML, 9.2.6); lines may end in LF, CR or both. */
export class PayloadLines {
  /** Bytes of the line so far, as far as they matter. */
  private length = 0;
  private isData = true;
  private wasReturn = false;

  next(byte: number): Place {
    if (byte === LF && this.wasReturn) {
      this.wasReturn = false;
      return Place.Other;
    }
    this.wasReturn = byte === CR;
    if (byte === LF || byte === CR) return this.endLine();
    if (this.length < PREFIX.length) {
      this.isData &&= byte === PREFIX[this.length];
      this.length++;
      return Place.Other;
    }
    return this.isData ? Place.Payload : Place.Other;
  }

  private endLine(): Place {
    const place = this.length === 0 ? Place.EventEnd : Place.Other;
    this.length = 0;
    this.isData = true;
    return place;
  }
}

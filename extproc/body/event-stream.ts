/** One event of a stream, as far as translators need it. */
export interface StreamEvent {
  /** The `event` field; empty when there is none. */
  readonly name: string;
  readonly data: string;
}

/** An event has outgrown what is held of one. */
export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";
}

const MAX_EVENT_BYTES = 65_536;
const LF = 0x0a;
const CR = 0x0d;
const NO_BYTES = Buffer.alloc(0);

/**
 * Cuts a stream into its events (WHATWG HTML, 9.2.6), whatever pieces it comes in. Only the event that has begun is
 * held, up to a limit. Bytes are decoded by the line, so that a piece may end within a character.
 */
export class EventSplitter {
  private line: Buffer[] = [];
  private name = "";
  private data: string[] = [];
  private heldBytes = 0;
  private wasReturn = false;

  constructor(private readonly maxEventBytes = MAX_EVENT_BYTES) {}

  /** The events that `piece` completes, to be read to their end. @throws EventTooLarge behind those before it. */
  *push(piece: Buffer): Generator<StreamEvent> {
    let lineStart = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === LF && this.wasReturn) {
        this.wasReturn = false;
        lineStart = at + 1;
        continue;
      }
      this.wasReturn = byte === CR;
      if (byte !== LF && byte !== CR) continue;
      this.hold(piece.subarray(lineStart, at));
      lineStart = at + 1;
      const event = this.endLine();
      if (event !== undefined) yield event;
    }
    this.hold(piece.subarray(lineStart));
  }

  /** The event that a stream's end completes, for servers that leave out the last blank line. */
  end(): StreamEvent | undefined {
    this.endLine();
    return this.endLine();
  }

  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.heldBytes += bytes.length;
    if (this.heldBytes > this.maxEventBytes)
      throw new EventTooLarge(`an event is larger than ${this.maxEventBytes} bytes`);
    // A copy, since the piece's memory is the transport's, and larger.
    this.line.push(Buffer.from(bytes));
  }

  private endLine(): StreamEvent | undefined {
    const bytes = this.line.length === 0 ? NO_BYTES : Buffer.concat(this.line);
    this.line = [];
    if (bytes.length === 0) return this.endEvent();
    const text = bytes.toString("utf8");
    const colon = text.indexOf(":");
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    return undefined;
  }

  /** An event without data is none. */
  private endEvent(): StreamEvent | undefined {
    const event = this.data.length > 0 ? { name: this.name, data: this.data.join("\n") } : undefined;
    this.name = "";
    this.data = [];
    this.heldBytes = 0;
    return event;
  }
}

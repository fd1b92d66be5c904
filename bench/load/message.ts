const headEnd = Buffer.from("\r\n\r\n");

/** One HTTP/1.1 message in a buffer that may hold its beginning only. */
export interface Message {
  /** Start line and headers, latin1. */
  readonly head: string;
  /** Where the body starts. */
  readonly bodyAt: number;
}

/** The message's head, or undefined while it is not all there. */
export function readHead(bytes: Buffer): Message | undefined {
  const at = bytes.indexOf(headEnd);
  return at < 0 ? undefined : { head: bytes.toString("latin1", 0, at), bodyAt: at + headEnd.length };
}

/** A header's value; names are lower case in all that the bench sends and in all that Envoy sends. */
export function headerValue(head: string, name: string): string | undefined {
  const at = head.indexOf(`\r\n${name}: `);
  if (at < 0) return undefined;
  const from = at + name.length + 4;
  const to = head.indexOf("\r\n", from);
  return head.slice(from, to < 0 ? head.length : to);
}

/**
 * Follows a chunked body. Counts its chunks: Envoy makes one of each piece of data that went through its filters.
 */
export class ChunkedBody {
  chunks = 0;
  done = false;
  #left = 0;
  #sizeText = "";

  /** Returns how many bytes belong to this body. */
  feed(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !this.done) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, bytes.length - at);
        this.#left -= step;
        at += step;
        continue;
      }
      const byte = bytes[at++] ?? 0;
      if (byte !== 0x0a) {
        this.#sizeText += String.fromCharCode(byte);
        continue;
      }
      this.#onLine(this.#sizeText.trim());
      this.#sizeText = "";
    }
    return at - from;
  }

  #isLast = false;

  #onLine(line: string): void {
    if (this.#isLast) {
      this.done = line === "";
      return;
    }
    if (line === "") return;
    const size = Number.parseInt(line, 16);
    if (size === 0) this.#isLast = true;
    else this.chunks++;
    this.#left = size;
  }
}

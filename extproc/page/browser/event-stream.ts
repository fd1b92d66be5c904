/** An event of an event stream; comments and `retry` are none. */
export interface StreamEvent {
  readonly id: string;
  readonly data: string;
}

/** An event is a few hundred bytes; what grows beyond this is no stream of ours. */
const MAX_PENDING = 1_048_576;

/** Splits a text that comes in pieces into events, wherever the pieces are cut. Lines end with LF or CRLF. */
export class EventReader {
  private pending = "";

  /** @throws Error when an event has no end */
  push(piece: string): StreamEvent[] {
    const blocks = (this.pending + piece).split(/\r?\n\r?\n/);
    this.pending = blocks.pop() ?? "";
    if (this.pending.length > MAX_PENDING) throw new Error("an event is too long");
    return blocks.flatMap((block) => {
      const event = parse(block);
      return event === undefined ? [] : [event];
    });
  }
}

function parse(block: string): StreamEvent | undefined {
  let id = "";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (field === "id") id = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 ? undefined : { id, data: data.join("\n") };
}

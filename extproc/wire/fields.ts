import { type Reader, WireError } from "./reader.js";

/** A message while its fields come in. */
export type Draft<Message> = { -readonly [Key in keyof Message]: Message[Key] };

/** Reads one field's value; `before` is what the message has so far, which a repeated field adds to. */
type Read<Value> = (reader: Reader, before: Value) => Value;

/** By its number: which key a field is, and how it is read. */
export type Fields<Message> = Readonly<
  Record<number, { [Key in keyof Message]-?: readonly [Key, Read<NonNullable<Message[Key]>>] }[keyof Message]>
>;

/**
 * Fills `message`, which holds the defaults, from the bytes. Fields that are not in the table are skipped.
 * @throws WireError
 */
export function readInto<Message extends object>(
  message: Draft<Message>,
  reader: Reader,
  fields: Fields<Message>,
): Message {
  while (reader.next()) {
    const field = fields[reader.field];
    if (field === undefined) reader.skip();
    else take(message, reader, field[0], field[1] as Read<Message[(typeof field)[0]]>);
  }
  return message;
}

function take<Message, Key extends keyof Message>(
  message: Draft<Message>,
  reader: Reader,
  key: Key,
  read: Read<Message[Key]>,
): void {
  message[key] = read(reader, message[key]);
}

const MAX_UINT32 = 0xffff_ffff;

/** A uint32. */
export function int(reader: Reader): number {
  const value = reader.number();
  if (value > MAX_UINT32) throw new WireError(`field ${reader.field} is no uint32`);
  return value;
}

/** A uint64; what a number can't hold exactly becomes the largest that it can. */
export function long(reader: Reader): number {
  return Math.min(reader.number(), Number.MAX_SAFE_INTEGER);
}

export function flag(reader: Reader): boolean {
  return reader.flag();
}

/** A string of so many bytes at most. */
export function textUpTo(most: number): (reader: Reader) => string {
  return (reader) => {
    const bytes = reader.view();
    const text = bytes.length > most ? "" : bytes.toString("utf8");
    // What is no UTF-8 grows to three times its size, and would be refused by whom it is told on to, with all that stands beside it.
    const size = bytes.length * 3 > most ? Buffer.byteLength(text) : 0;
    if (bytes.length > most || size > most)
      throw new WireError(`field ${reader.field} is longer than ${most} bytes`);
    return text;
  };
}

/** A repeated message, so often at most. The list that it is added to must be the message's own. */
export function listUpTo<Item>(
  most: number,
  read: (reader: Reader) => Item,
): (reader: Reader, before: readonly Item[]) => readonly Item[] {
  return (reader, before) => {
    if (before.length >= most) throw new WireError(`field ${reader.field} is there more than ${most} times`);
    (before as Item[]).push(read(reader.message()));
    return before;
  };
}

/** A repeated string of so many bytes at most, so often at most. The list that it is added to must be the message's own. */
export function textsUpTo(
  most: number,
  longest: number,
): (reader: Reader, before: readonly string[]) => readonly string[] {
  const read = textUpTo(longest);
  return (reader, before) => {
    if (before.length >= most) throw new WireError(`field ${reader.field} is there more than ${most} times`);
    (before as string[]).push(read(reader));
    return before;
  };
}

export function message<Inner>(read: (reader: Reader) => Inner): (reader: Reader) => Inner {
  return (reader) => read(reader.message());
}

import type { Random } from "../../chaos/random.js";
import { anyBytes, chance, fieldBytes, headerName, headerValue, jsonBytes } from "./bytes.js";

// HTTP/2 frames as bytes: no library sends what no caller should.

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const [DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, WINDOW, CONTINUATION] = [
  0, 1, 2, 3, 4, 5, 6, 8, 9,
];
const [END_STREAM, END_HEADERS, PADDED] = [1, 4, 8];
/** The largest frame that a peer takes without asking for more. */
const MOST_BYTES = 16_384;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A whole number of HPACK, 7 bits of it in the first byte. */
function hpackLength(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** Never indexed, never compressed: names and values of any bytes. */
function literal(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")];
  return Buffer.concat([Buffer.from([0]), hpackLength(key.length), key, hpackLength(text.length), text]);
}

function pseudo(random: Random): [string, string][] {
  const well: [string, string][] = [
    [":method", "POST"],
    [":scheme", "http"],
    [":authority", "x"],
    [":path", "/v1/chat/completions"],
  ];
  if (chance(random, 70)) return well;
  return random.pick<[string, string][]>([
    well.slice(1),
    [...well, [":path", "/twice"]],
    [...well, [":status", "200"]],
    [...well, [":protocol", "websocket"]],
    [...well.slice(0, 3), [":path", ""]],
    [...well.slice(0, 3), [":path", `/${fieldBytes(random, 300)}`]],
    [
      [":method", "CONNECT"],
      [":authority", "x"],
    ],
    well.map(([name, value]) => [name.toUpperCase(), value]),
    [["x-first", "1"], ...well],
  ]);
}

function headerFrames(random: Random, stream: number, isEnd: boolean, named: [string, string][]): Buffer[] {
  const fields = [...named];
  for (let left = random.between(0, 10); left > 0; left--) {
    const name = headerName(random);
    fields.push([chance(random, 85) ? name.toLowerCase() : name, headerValue(random).slice(0, 8_000)]);
  }
  const block = Buffer.concat([...fields.map(([name, value]) => literal(name, value)), noise(random)]);
  const pieces: Buffer[] = [];
  for (let at = 0; at < Math.max(1, block.length); at += MOST_BYTES)
    pieces.push(block.subarray(at, at + MOST_BYTES));
  return pieces.map((piece, at) => {
    const flags = (at === pieces.length - 1 ? END_HEADERS : 0) | (at === 0 && isEnd ? END_STREAM : 0);
    return frame(at === 0 ? HEADERS : CONTINUATION, flags, stream, piece);
  });
}

/** What no decoder can make sense of, at times. */
function noise(random: Random): Buffer {
  return Buffer.from(chance(random, 6) ? anyBytes(random, random.between(1, 20)) : "", "latin1");
}

function oddFrame(random: Random, stream: number): Buffer {
  return random.pick([
    () => frame(PRIORITY, 0, stream, Buffer.from([0, 0, 0, stream, 16])),
    () => frame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8])),
    () => frame(WINDOW, 0, stream, Buffer.alloc(4)),
    () => frame(WINDOW, 0, 0, Buffer.from([127, 255, 255, 255])),
    () => frame(PING, 0, 0, Buffer.alloc(8)),
    () => frame(PUSH, END_HEADERS, stream, Buffer.alloc(8)),
    () => frame(CONTINUATION, END_HEADERS, stream, Buffer.alloc(0)),
    () => frame(DATA, PADDED, stream, Buffer.from([255, 1])),
    () => frame(DATA, 0, 0, Buffer.from("x")),
    () => frame(SETTINGS, 0, 0, Buffer.from([0, 4, 255, 255, 255, 255])),
    () =>
      frame(
        random.between(0, 255),
        random.between(0, 255),
        random.between(0, 9),
        Buffer.from(anyBytes(random, 12), "latin1"),
      ),
  ])();
}

/** One to three requests on a connection, with what does not belong between them. */
export function connectionBytes(random: Random): Buffer {
  const frames = [Buffer.from(PREFACE), frame(SETTINGS, 0, 0, Buffer.alloc(0))];
  for (let at = 0; at < random.between(1, 3); at++) {
    const stream = chance(random, 95) ? 2 * at + 1 : random.between(0, 8);
    const hasBody = chance(random, 80);
    frames.push(...headerFrames(random, stream, !hasBody, pseudo(random)));
    if (chance(random, 10)) frames.push(oddFrame(random, stream));
    if (!hasBody) continue;
    const hasTrailers = chance(random, 30);
    const body = Buffer.from(jsonBytes(random).slice(0, MOST_BYTES), "latin1");
    frames.push(frame(DATA, hasTrailers || chance(random, 10) ? 0 : END_STREAM, stream, body));
    if (hasTrailers) frames.push(...headerFrames(random, stream, chance(random, 90), []));
  }
  const bytes = Buffer.concat(frames);
  return chance(random, 10) ? bytes.subarray(0, random.between(0, bytes.length)) : bytes;
}

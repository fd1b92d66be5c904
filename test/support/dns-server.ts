import { createSocket, type Socket } from "node:dgram";

const TYPES: Record<number, "A" | "SRV" | "AAAA"> = { 1: "A", 28: "AAAA", 33: "SRV" };
const NO_SUCH_NAME = 3;
const SERVER_FAILURE = 2;

/** `A` and `AAAA`: addresses, an IPv6 one in full; `SRV`: `port target`. */
export type Zone = Readonly<
  Record<string, Readonly<Partial<Record<"A" | "AAAA" | "SRV", readonly string[]>>>>
>;

/** A DNS server on loopback that tells what its zone says. */
export class DnsServer {
  zone: Zone = {};
  /** `failure`: SERVFAIL to all; `silence`: no answer. */
  mode: "answers" | "failure" | "silence" = "answers";
  asked = 0;
  private readonly socket: Socket = createSocket("udp4");

  /** Its address, as resolvers take it. */
  async start(): Promise<string> {
    this.socket.on("message", (query, { port, address }) => {
      this.asked++;
      if (this.mode !== "silence") this.socket.send(this.answer(query), port, address);
    });
    await new Promise<void>((resolve) => this.socket.bind(0, "127.0.0.1", resolve));
    return `127.0.0.1:${this.socket.address().port}`;
  }

  stop(): void {
    this.socket.close();
  }

  private answer(query: Buffer): Buffer {
    const { name, end } = readName(query);
    const type = TYPES[query.readUInt16BE(end)];
    const known = this.zone[name.toLowerCase()];
    const told = this.mode === "failure" || type === undefined ? [] : (known?.[type] ?? []);
    const code = this.mode === "failure" ? SERVER_FAILURE : known === undefined ? NO_SUCH_NAME : 0;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(told.length, 6);
    const question = query.subarray(12, end + 4);
    return Buffer.concat([header, question, ...told.map((each) => record(query.readUInt16BE(end), each))]);
  }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

function record(type: number, told: string): Buffer {
  const data = dataOf(type, told);
  const head = Buffer.alloc(12);
  // The name is the question's.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(type: number, told: string): Buffer {
  if (TYPES[type] === "A") return Buffer.from(told.split(".").map(Number));
  if (TYPES[type] === "AAAA") {
    const words = told.split(":").map((word) => Number.parseInt(word, 16));
    return Buffer.from(words.flatMap((word) => [word >> 8, word & 255]));
  }
  const [port, target = ""] = told.split(" ");
  const labels = target.split(".").filter((label) => label !== "");
  const head = Buffer.from([0, 0, 0, 0, Number(port) >> 8, Number(port) & 255]);
  const name = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([head, ...name, Buffer.from([0])]);
}

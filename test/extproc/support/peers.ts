import { pino } from "pino";
import type { Exchange } from "../../../extproc/peers/exchange.js";
import { parseKeys } from "../../../extproc/peers/keys.js";
import { openPeers, type Peers, type PeersGroup, type PeersParts } from "../../../extproc/peers/peers.js";
import type { PeersSettings } from "../../../extproc/peers/settings.js";
import { freePort } from "../../support/ports.js";

export const KEY = "a secret of the group, as long as it must be";
export const OTHER_KEY = "a secret of some other group, long enough too";

/** Tells what it is given, and keeps what it hears with when that was. */
export class Talk implements PeersGroup {
  readonly heard: { text: string; atMs: number }[] = [];
  private listener: () => void = () => {};

  constructor(private text: string) {}

  say(text: string): void {
    this.text = text;
    this.listener();
  }

  write(): Uint8Array {
    return Buffer.from(this.text);
  }

  read(bytes: Uint8Array): void {
    this.heard.push({ text: Buffer.from(bytes).toString(), atMs: performance.now() });
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }

  hears(text: string): boolean {
    return this.heard.some((each) => each.text === text);
  }

  /** Forgets what it has heard so far. */
  forget(): void {
    this.heard.length = 0;
  }
}

export interface Member {
  readonly talk: Talk;
  readonly peers: Peers;
  readonly lines: Record<string, unknown>[];
  close(): Promise<void>;
}

export interface MemberGiven {
  readonly keys?: string;
  readonly parts?: PeersParts;
}

export async function openMember(
  name: string,
  engine: Pick<PeersSettings, "gossip" | "redis">,
  { keys = KEY, parts = {} }: MemberGiven = {},
): Promise<Member> {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "debug" }, { write: (text: string) => lines.push(JSON.parse(text)) });
  const talk = new Talk(name);
  const settings: PeersSettings = { keyFile: "read by the test", ...engine };
  const peers = await openPeers(settings, parseKeys(keys), talk, log, parts);
  talk.onChange(() => peers.publishSoon());
  return { talk, peers, lines, close: () => peers.close() };
}

/** Settings of as many members on loopback, each of which knows all, itself too. */
export async function gossipSettings(
  count: number,
): Promise<{ gossip: NonNullable<PeersSettings["gossip"]> }[]> {
  const members: string[] = [];
  while (members.length < count) members.push(`127.0.0.1:${await freePort()}`);
  return members.map((listen) => ({ gossip: { listen, members } }));
}

/** What crosses the wire, seen by who taps it: sealed by the members themselves. */
export class Tap implements Exchange {
  readonly name = "redis";
  readonly reachable = undefined;
  private receive: (bytes: Uint8Array) => boolean = () => true;

  constructor(private readonly wire: Set<Tap>) {
    wire.add(this);
  }

  listen(receive: (bytes: Uint8Array) => boolean): void {
    this.receive = receive;
  }

  publish(bytes: Uint8Array): void {
    for (const each of this.wire) each.receive(bytes);
  }

  async close(): Promise<void> {
    this.wire.delete(this);
  }
}

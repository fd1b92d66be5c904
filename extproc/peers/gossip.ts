import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { ListenError } from "../listen.js";
import type { Exchange, Receive } from "./exchange.js";
import { type GossipNode, startGossipNode } from "./gossip-node.js";
import type { GroupKey } from "./keys.js";
import {
  type Address,
  joinAddress,
  Membership,
  type Names,
  splitAddress,
  systemNames,
} from "./membership.js";
import type { GossipSettings } from "./settings.js";

/** How often lost members are dialled, and names are asked. Milliseconds. */
const DIAL_EVERY_MS = 1000;
const RESOLVE_EVERY_MS = 5000;
/** An address that turned out to be this process's own may be another's later. Milliseconds. */
const OWN_FOR_MS = 60_000;
/** A connection over which nobody has subscribed by then is made anew. Milliseconds. */
const DEAF_AFTER_MS = 10_000;
/** Members start one after the other: no word of fewer tries in a row that failed. */
const COMPLAIN_AT = 5;

/** Messages over connections between members themselves: nothing else need run. */
export class GossipExchange implements Exchange {
  readonly name = "gossip";
  private receive: Receive = () => true;
  private readonly timers: NodeJS.Timeout[] = [];
  /** Who was reached at an address, by peer id: those that connect to us come from other ports. */
  private readonly reached = new Map<Address, string>();
  private readonly ownUntilMs = new Map<Address, number>();
  private readonly dialling = new Set<Address>();
  private readonly failures = new Map<Address, number>();
  private readonly deafSinceMs = new Map<string, number>();
  private isResolving = false;
  private isClosed = false;

  private constructor(
    private readonly node: GossipNode,
    private readonly membership: Membership,
    private readonly log: Pick<Logger, "info" | "debug" | "warn">,
  ) {}

  /**
   * Listens, and dials what the settings tell.
   * @throws ConfigError when libp2p is not installed, ListenError for a port that can't be had.
   */
  static async open(
    settings: GossipSettings,
    keys: readonly GroupKey[],
    log: Logger,
    names: Names = systemNames,
  ): Promise<GossipExchange> {
    const membership = new Membership(settings, log, names);
    let receive: Receive = () => false;
    const node = await startGossipNode({
      listen: await resolveListen(settings.listen),
      keys,
      isMember: (address) => membership.addresses.has(address),
      receive: (bytes) => receive(bytes),
    }).catch((cause: Error) => {
      if (cause.name === "ConfigError") throw cause;
      throw listenError(settings.listen, cause);
    });
    const exchange = new GossipExchange(node, membership, log);
    receive = (bytes) => exchange.receive(bytes);
    exchange.start();
    return exchange;
  }

  /** host:port as bound. */
  get address(): Address {
    return this.node.address;
  }

  get reachable(): number {
    return this.node.subscribers().size;
  }

  listen(receive: Receive): void {
    this.receive = receive;
  }

  publish(bytes: Uint8Array): void {
    if (!this.isClosed) this.node.publish(bytes);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const timer of this.timers) clearInterval(timer);
    await this.node.stop();
  }

  private start(): void {
    void this.resolve();
    this.timers.push(
      setInterval(() => this.connect(), DIAL_EVERY_MS),
      setInterval(() => void this.resolve(), RESOLVE_EVERY_MS),
    );
  }

  /** Once at a time: where DNS takes long, questions do not pile up. Never rejects. */
  private async resolve(): Promise<void> {
    if (this.isResolving || this.isClosed) return;
    this.isResolving = true;
    await this.membership.refresh();
    this.isResolving = false;
    this.connect();
  }

  /** Dials every member that is not connected. */
  private connect(): void {
    if (this.isClosed) return;
    const { addresses } = this.membership;
    for (const address of this.reached.keys()) {
      if (!addresses.has(address)) this.reached.delete(address);
    }
    for (const address of this.failures.keys()) {
      if (!addresses.has(address)) this.failures.delete(address);
    }
    this.hangUpOnDeaf();
    const peers = this.node.peers();
    const now = performance.now();
    for (const address of addresses) {
      const isOwn = (this.ownUntilMs.get(address) ?? 0) > now;
      if (isOwn || this.dialling.has(address) || peers.has(this.reached.get(address) ?? "")) continue;
      void this.dial(address);
    }
  }

  private async dial(address: Address): Promise<void> {
    this.dialling.add(address);
    const dialled = await this.node.dial(address);
    this.dialling.delete(address);
    if (dialled.kind !== "failed") this.failures.delete(address);
    if (dialled.kind === "member") {
      this.reached.set(address, dialled.peer);
      this.log.info({ address }, "peers: connected");
    } else if (dialled.kind === "own") {
      this.ownUntilMs.set(address, performance.now() + OWN_FOR_MS);
    } else {
      this.log.debug({ address, reason: dialled.reason }, "peers: can't be reached");
      this.complain(address, dialled.reason);
    }
  }

  /** Once, until it has been reached. With another key it looks like a member that hangs up. */
  private complain(address: Address, reason: string): void {
    const failures = (this.failures.get(address) ?? 0) + 1;
    this.failures.set(address, failures);
    if (failures !== COMPLAIN_AT || this.isClosed) return;
    this.log.warn(
      { address, reason },
      "peers: a member can't be reached: is it up, and is its peers.keyFile the same as ours?",
    );
  }

  private hangUpOnDeaf(): void {
    const subscribers = this.node.subscribers();
    const peers = this.node.peers();
    const now = performance.now();
    for (const peer of this.deafSinceMs.keys()) {
      if (!peers.has(peer) || subscribers.has(peer)) this.deafSinceMs.delete(peer);
    }
    for (const peer of peers) {
      if (subscribers.has(peer)) continue;
      const since = this.deafSinceMs.get(peer) ?? now;
      this.deafSinceMs.set(peer, since);
      if (now - since > DEAF_AFTER_MS) this.node.hangUp(peer);
    }
  }
}

/** A host's name as an IP address: libp2p listens on nothing else. */
async function resolveListen(listen: string): Promise<Address> {
  const { host, port } = splitAddress(listen);
  if (isIP(host) !== 0) return listen;
  const { address } = await lookup(host).catch((cause: Error) => {
    throw listenError(listen, cause);
  });
  return joinAddress(address, port);
}

function listenError(address: string, cause: Error): ListenError {
  const remedy = "free the port or set peers.gossip.listen to another one";
  // libp2p tells of its own settings first, then the system's reason on a line of its own.
  const reason = /\b(listen E\w+.*)/.exec(cause.message)?.[1] ?? cause.message.replace(/\s+/g, " ");
  return new ListenError(
    `EXTPROC start: peers.gossip.listen ${address} can't be listened on: ${reason}; ${remedy}`,
    { cause },
  );
}

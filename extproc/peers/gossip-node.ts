import { createHash } from "node:crypto";
import type { Multiaddr } from "@multiformats/multiaddr";
import { loadOptional } from "../optional-package.js";
import { ConnectionGuard } from "./connection-guard.js";
import { MAX_MESSAGE_BYTES, type Receive } from "./exchange.js";
import type { GroupKey } from "./keys.js";
import { type Address, joinAddress, splitAddress } from "./membership.js";

const TOPIC = "llm-breaker/peers/1";
const MAX_CONNECTIONS = 64;
/** What a connection may take until it is usable. Milliseconds. */
const CONNECT_MS = 2000;
/** A member whose machine is gone is noticed by an unanswered ping. Milliseconds. */
const PING_EVERY_MS = 2000;
const PING_LIMIT_MS = 2000;
/** What one member may leave unread before more is lost. Bytes. */
const MAX_UNREAD_BYTES = 4 * MAX_MESSAGE_BYTES;
/** Around a message, its topic and lengths. Bytes. */
const FRAME_BYTES = 4096;

/** What a dial came to. `again`: that member is connected already. */
export type Dialled =
  | { readonly kind: "member"; readonly peer: string }
  | { readonly kind: "own" }
  | { readonly kind: "failed"; readonly reason: string };

/** A libp2p node that speaks gossipsub on one topic and nothing else. */
export interface GossipNode {
  /** host:port as bound, also when the setting asked for port 0. */
  readonly address: Address;
  /** Peer ids of those that are connected. */
  peers(): ReadonlySet<string>;
  /** Peer ids of those that messages are sent to. */
  subscribers(): ReadonlySet<string>;
  dial(address: Address): Promise<Dialled>;
  hangUp(peer: string): void;
  publish(bytes: Uint8Array): void;
  stop(): Promise<void>;
}

export interface GossipNodeParts {
  readonly listen: Address;
  readonly keys: readonly GroupKey[];
  /** Only what this tells is ever dialled, whatever other members say. */
  isMember(address: Address): boolean;
  readonly receive: Receive;
}

/** @throws ConfigError when the packages are not installed; what libp2p throws when the port can't be had. */
export async function startGossipNode(parts: GossipNodeParts): Promise<GossipNode> {
  const packages = await loadOptional(["peers", "gossip"], "libp2p with its parts", loadPackages);
  const { multiaddr } = packages;
  const peers = new Set<string>();
  const toMultiaddr = (address: Address) => multiaddr(pathOf(address));
  /** Who answered at an address, noted before the connection is given up for being the second one. */
  const answered = new Map<Address, string>();
  const node = await packages.createLibp2p({
    addresses: { listen: [pathOf(parts.listen)] },
    transports: [packages.tcp({ dialOpts: { noDelay: true }, listenOpts: { noDelay: true } })],
    connectionProtector: () => new ConnectionGuard(parts.keys, packages),
    connectionEncrypters: [packages.noise()],
    streamMuxers: [packages.yamux()],
    connectionManager: {
      maxConnections: MAX_CONNECTIONS,
      maxIncomingPendingConnections: MAX_CONNECTIONS,
      // All members may come from one address, after a restart all at once.
      inboundConnectionThreshold: MAX_CONNECTIONS,
      inboundUpgradeTimeout: CONNECT_MS,
      dialTimeout: CONNECT_MS,
      addressDialTimeout: CONNECT_MS,
      reconnectRetries: 0,
    },
    connectionMonitor: {
      pingInterval: PING_EVERY_MS,
      pingTimeout: { minTimeout: PING_LIMIT_MS, maxTimeout: PING_LIMIT_MS },
    },
    connectionGater: {
      denyDialPeer: () => true,
      denyDialMultiaddr: (asked) => !parts.isMember(addressOf(asked)),
      // One connection for two members is enough, whoever came first.
      denyOutboundEncryptedConnection: (peer, { remoteAddr }) => {
        answered.set(addressOf(remoteAddr), peer.toString());
        return peers.has(peer.toString());
      },
    },
    services: {
      identify: packages.identify({ protocolPrefix: "llm-breaker" }),
      gossip: packages.gossipsub({
        allowedTopics: [TOPIC],
        allowPublishToZeroTopicPeers: true,
        emitSelf: false,
        floodPublish: true,
        doPX: false,
        // The seal tells who may speak; a signature would only tell which process.
        globalSignaturePolicy: "StrictNoSign",
        msgIdFn: ({ data }) => createHash("sha256").update(data).digest(),
        seenTTL: 30_000,
        maxInboundDataLength: MAX_MESSAGE_BYTES + FRAME_BYTES,
        maxOutboundBufferSize: MAX_UNREAD_BYTES,
        // Whoever holds the key is trusted; members may well share an address behind a NAT.
        scoreParams: { IPColocationFactorWeight: 0, behaviourPenaltyWeight: 0 },
      }),
    },
  });
  const { gossip } = node.services;
  node.addEventListener("peer:connect", ({ detail }) => peers.add(detail.toString()));
  node.addEventListener("peer:disconnect", ({ detail }) => peers.delete(detail.toString()));
  const { TopicValidatorResult } = packages;
  gossip.topicValidators.set(TOPIC, (_, { data }) =>
    parts.receive(data) ? TopicValidatorResult.Accept : TopicValidatorResult.Reject,
  );
  gossip.subscribe(TOPIC);
  return {
    address: addressOf(node.getMultiaddrs()[0] ?? toMultiaddr(parts.listen)),
    peers: () => peers,
    subscribers: () => new Set(gossip.getSubscribers(TOPIC).map(String)),
    async dial(address) {
      answered.delete(address);
      try {
        const connection = await node.dial(toMultiaddr(address), { signal: AbortSignal.timeout(CONNECT_MS) });
        return { kind: "member", peer: connection.remotePeer.toString() };
      } catch (cause) {
        const peer = answered.get(address);
        if (peer !== undefined && peers.has(peer)) return { kind: "member", peer };
        const { name, message } = cause as Error;
        return name === "InvalidPeerIdError" ? { kind: "own" } : { kind: "failed", reason: message };
      }
    },
    hangUp(peer) {
      for (const connection of node.getConnections()) {
        if (connection.remotePeer.toString() === peer) connection.abort(new Error("hung up"));
      }
    },
    publish(bytes) {
      gossip.publish(TOPIC, bytes).catch(() => {});
    },
    stop: async () => node.stop(),
  };
}

/** Loaded only where gossip is configured: they are optional, and take 60 MB. */
async function loadPackages() {
  providePromiseWithResolvers();
  const [libp2p, gossipsub, tcp, noise, yamux, identify, pnet, utils, multiaddr] = await Promise.all([
    import("libp2p"),
    import("@libp2p/gossipsub"),
    import("@libp2p/tcp"),
    import("@libp2p/noise"),
    import("@libp2p/yamux"),
    import("@libp2p/identify"),
    import("@libp2p/pnet"),
    import("@libp2p/utils"),
    import("@multiformats/multiaddr"),
  ]);
  return {
    ...libp2p,
    ...gossipsub,
    ...tcp,
    ...noise,
    ...yamux,
    ...identify,
    ...pnet,
    ...utils,
    ...multiaddr,
  };
}

/** libp2p needs it; Node has it from 22 on. */
function providePromiseWithResolvers(): void {
  const holder = Promise as { withResolvers?: () => unknown };
  holder.withResolvers ??= () => {
    let resolve: unknown;
    let reject: unknown;
    const promise = new Promise((onResolved, onRejected) => {
      resolve = onResolved;
      reject = onRejected;
    });
    return { promise, resolve, reject };
  };
}

function pathOf(address: Address): string {
  const { host, port } = splitAddress(address);
  return `/${host.includes(":") ? "ip6" : "ip4"}/${host}/tcp/${port}`;
}

function addressOf(path: Multiaddr): Address {
  const parts = path.getComponents();
  const part = (...names: string[]) => parts.find(({ name }) => names.includes(name))?.value ?? "";
  return joinAddress(part("ip4", "ip6"), Number(part("tcp")));
}

import { randomBytes } from "node:crypto";
import type { ConnectionProtector, MessageStream } from "@libp2p/interface";
import { type GroupKey, MAX_KEYS } from "./keys.js";

const ID_BYTES = 8;
/** Always as many, so that nobody sees how many keys there are. */
const HELLO_BYTES = MAX_KEYS * ID_BYTES;
/** What greeting and encrypting may take. Milliseconds. */
const LIMIT_MS = 2000;

/** A connection whose other end has none of our keys. */
export class StrangerError extends Error {
  override readonly name = "StrangerError";
}

interface Parts {
  /** From @libp2p/pnet. */
  readonly preSharedKey: typeof import("@libp2p/pnet").preSharedKey;
  /** From @libp2p/utils. */
  readonly byteStream: typeof import("@libp2p/utils").byteStream;
}

/**
 * Encrypts each connection by a key that both ends have, before either is greeted: a stranger sees random bytes and is
 * understood by nobody. While keys are changed members know different ones, so each end first tells which it has, by
 * names that say nothing to others.
 */
export class ConnectionGuard implements ConnectionProtector {
  private readonly protectors: ReadonlyMap<string, ConnectionProtector>;

  constructor(
    private readonly keys: readonly GroupKey[],
    private readonly parts: Parts,
  ) {
    this.protectors = new Map(
      keys.map(({ id, network }) => [id.toString("hex"), parts.preSharedKey({ psk: swarmKey(network) })()]),
    );
  }

  async protect(connection: MessageStream): Promise<MessageStream> {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const bytes = this.parts.byteStream(connection);
    const [told] = await Promise.all([
      bytes.read({ bytes: HELLO_BYTES, signal }),
      bytes.write(this.hello(), { signal }),
    ]);
    const protector = this.common(Buffer.from(told.subarray()));
    if (protector === undefined) {
      const error = new StrangerError("no common key");
      connection.abort(error);
      throw error;
    }
    return protector.protect(bytes.unwrap(), { signal });
  }

  private hello(): Buffer {
    const ids = this.keys.map(({ id }) => id);
    return Buffer.concat([...ids, randomBytes(HELLO_BYTES)]).subarray(0, HELLO_BYTES);
  }

  /** The same one for both ends. */
  private common(hello: Buffer): ConnectionProtector | undefined {
    const theirs: string[] = [];
    for (let at = 0; at < HELLO_BYTES; at += ID_BYTES) {
      theirs.push(hello.toString("hex", at, at + ID_BYTES));
    }
    const [first] = theirs.filter((id) => this.protectors.has(id)).sort();
    return first === undefined ? undefined : this.protectors.get(first);
  }
}

/** As libp2p's key files spell it. */
function swarmKey(key: Buffer): Uint8Array {
  return Buffer.from(`/key/swarm/psk/1.0.0/\n/base16/\n${key.toString("hex")}`);
}

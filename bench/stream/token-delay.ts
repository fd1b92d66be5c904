import { connect, type Socket } from "node:net";
import { differences, type Figure, figure } from "../figures.js";
import { readAges } from "../load/event-stream.js";
import { streamRequest } from "../load/requests.js";

const tokensPerBlock = 400;
const shape = { events: tokensPerBlock + 3, eventsPerWrite: 1, waitMs: 0, gapMs: 3, isStamped: true };
const request = streamRequest(shape, 20)(0);
const streamEnd = "0\r\n\r\n";
const digits = 4;

/** Milliseconds by which the filter delays a token, at two points of the distribution. */
export interface TokenDelay {
  readonly addedP50: Figure;
  readonly addedP99: Figure;
  readonly bareP50: Figure;
}

/**
 * From the upstream's write to our read, one stream alone, in turns with and without the filter. Both ends read the same
 * clock; what the kernel and Node add to a token is in both and falls out.
 */
export async function measureTokenDelay(
  barePort: number,
  fullPort: number,
  blocks: number,
): Promise<TokenDelay> {
  const bare = await openConnection(barePort);
  const full = await openConnection(fullPort);
  const p50 = { bare: [] as number[], full: [] as number[] };
  const p99 = { bare: [] as number[], full: [] as number[] };
  try {
    for (let block = 0; block <= blocks; block++) {
      for (const [name, socket] of [
        ["bare", bare],
        ["full", full],
      ] as const) {
        const ages = await tokenAges(socket);
        // The first turn fills pools and lets the compilers do their work.
        if (block === 0) continue;
        p50[name].push(quantile(ages, 0.5));
        p99[name].push(quantile(ages, 0.99));
      }
    }
  } finally {
    bare.destroy();
    full.destroy();
  }
  return {
    addedP50: figure(differences(p50.full, p50.bare), digits),
    addedP99: figure(differences(p99.full, p99.bare), digits),
    bareP50: figure(p50.bare, digits),
  };
}

function openConnection(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function tokenAges(socket: Socket): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const ages: number[] = [];
    const onData = (bytes: Buffer): void => {
      ages.push(...readAges(bytes));
      if (bytes.toString("latin1", bytes.length - streamEnd.length) !== streamEnd) return;
      socket.off("data", onData);
      socket.off("close", onClose);
      if (ages.length === tokensPerBlock) resolve(ages);
      else reject(new Error(`${ages.length} of ${tokensPerBlock} tokens were read whole`));
    };
    const onClose = (): void => reject(new Error("Envoy closed a connection"));
    socket.on("data", onData);
    socket.on("close", onClose);
    socket.write(request);
  });
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  if (value === undefined) throw new RangeError("a quantile needs at least one value");
  return value;
}

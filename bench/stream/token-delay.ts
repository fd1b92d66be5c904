import { connect, type Socket } from "node:net";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import { cpuNanoseconds } from "../cpu-time.js";
import { differences, type Figure, figure } from "../figures.js";
import { readAges } from "../load/event-stream.js";
import { streamRequest } from "../load/requests.js";

const tokensPerBlock = 400;
const shape = { events: tokensPerBlock + 3, eventsPerWrite: 1, waitMs: 0, gapMs: 3, isStamped: true };
const request = streamRequest(shape, 20)(0);
const streamEnd = "0\r\n\r\n";
const digits = 4;

/** What one lone stream of a quiet gateway pays: its code is cold at every token. */
export interface TokenDelay {
  /** Milliseconds by which the filter delays a token, at two points of the distribution. */
  readonly addedMsP50: Figure;
  readonly addedMsP99: Figure;
  readonly bareMsP50: Figure;
  /** CPU that the filter adds to a token inside Envoy. */
  readonly addedUs: Figure;
}

interface Route {
  readonly pid: number;
  readonly socket: Socket;
  readonly p50: number[];
  readonly p99: number[];
  readonly us: number[];
}

/**
 * From the upstream's write to our read, one stream alone, in turns with and without the filter. Both ends read the same
 * clock; what the kernel and Node add to a token is in both and falls out.
 */
export async function measureTokenDelay(
  bareEnvoy: RunningEnvoy,
  fullEnvoy: RunningEnvoy,
  settings: { readonly port: number; readonly blocks: number },
): Promise<TokenDelay> {
  const route = async (envoy: RunningEnvoy): Promise<Route> => {
    return {
      pid: envoy.pid,
      socket: await openConnection(envoy.port(settings.port)),
      p50: [],
      p99: [],
      us: [],
    };
  };
  const bare = await route(bareEnvoy);
  const full = await route(fullEnvoy);
  try {
    // Fills pools and lets the compilers do their work.
    for (const { socket } of [bare, full]) await tokenAges(socket);
    for (let block = 1; block <= settings.blocks; block++) {
      for (const each of block % 2 ? [bare, full] : [full, bare]) await measureBlock(each);
    }
  } finally {
    bare.socket.destroy();
    full.socket.destroy();
  }
  return {
    addedMsP50: figure(differences(full.p50, bare.p50), digits),
    addedMsP99: figure(differences(full.p99, bare.p99), digits),
    bareMsP50: figure(bare.p50, digits),
    addedUs: figure(differences(full.us, bare.us)),
  };
}

async function measureBlock({ pid, socket, p50, p99, us }: Route): Promise<void> {
  const before = cpuNanoseconds(pid);
  const ages = await tokenAges(socket);
  us.push((cpuNanoseconds(pid) - before) / 1e3 / tokensPerBlock);
  p50.push(quantile(ages, 0.5));
  p99.push(quantile(ages, 0.99));
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

import { Agent } from "node:http";
import { monotonicMs, pause } from "./clock.js";
import { type CallRecord, sendCall } from "./load/caller.js";
import { DEMO_MIX, type Mix, nextCall } from "./load/mix.js";
import { poissonGapMs, seededRandom } from "./random.js";

export interface LoadSettings {
  /** The gateway's port on 127.0.0.1; default 10000. */
  readonly port?: number;
  readonly perSecond: number;
  readonly seed: number;
  readonly mix?: Mix;
  /** Default 150 s: more than the longest wait the shipped policy allows. */
  readonly patienceMs?: number;
}

export interface Load {
  /** What the callers saw so far, in the order in which they ended. */
  readonly records: readonly CallRecord[];
  readonly started: number;
  readonly inFlight: number;
  /** What the callers used to prove who they are, one per call. */
  readonly credentials: readonly string[];
  /** Stops sending; resolves when every caller has ended. */
  stop(): Promise<readonly CallRecord[]>;
  /** Stops sending and hangs up on what still runs. */
  abandon(): Promise<void>;
}

/**
 * Sends the mix as an open loop: arrivals follow a seeded Poisson process and wait for nobody, as callers do in an
 * outage. A closed loop would slow down with the backend and hide what callers see.
 */
export function startLoad(settings: LoadSettings): Load {
  const { port = 10_000, perSecond, seed, mix = DEMO_MIX, patienceMs = 150_000 } = settings;
  const target = {
    port,
    patienceMs,
    agent: new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }),
  };
  // Two sources, so that a change of the mix does not move the arrivals.
  const arrivals = seededRandom(seed);
  const shapes = seededRandom(seed + 0x9e3779b9);
  const records: CallRecord[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const credentials: string[] = [];
  let started = 0;

  const send = (): void => {
    const call = nextCall(shapes, mix, started++);
    credentials.push(call.credential);
    const done = sendCall(target, call).then((record) => {
      records.push(record);
      running.delete(done);
    });
    running.add(done);
  };
  const pump = async (): Promise<void> => {
    let nextMs = monotonicMs();
    while (!stopping.signal.aborted) {
      nextMs += poissonGapMs(arrivals, perSecond);
      await pause(Math.max(0, nextMs - monotonicMs()), stopping.signal);
      if (!stopping.signal.aborted) send();
    }
  };
  const pumping = pump();
  return {
    records,
    credentials,
    get started() {
      return started;
    },
    get inFlight() {
      return running.size;
    },
    async stop() {
      stopping.abort();
      await pumping;
      await Promise.all(running);
      target.agent.destroy();
      return records;
    },
    async abandon() {
      stopping.abort();
      await pumping;
      target.agent.destroy();
      await Promise.all(running);
    },
  };
}

import { pino } from "pino";
import { Group } from "../../extproc/peers/group.js";
import { parseKeys } from "../../extproc/peers/keys.js";
import { openPeers, type Peers } from "../../extproc/peers/peers.js";
import type { PeersSettings } from "../../extproc/peers/settings.js";
import { blankReport, NO_COUNTERS, NO_WINDOW } from "../../extproc/sync/blank.js";
import type { BackendReport, Window } from "../../extproc/sync/contract.js";
import { freePort } from "../support/ports.js";
import { FaultyExchange } from "./faulty-exchange.js";
import type { Meeting } from "./gateway-config.js";
import { calm } from "./weather.js";

const reportEveryMs = 250;
/** No gateway has it. */
const ownNumber = 255;

const window: Window = {
  ...NO_WINDOW,
  calls: 10,
  failures: 10,
  weightedFailures: 1000,
  consecutiveFailures: 10,
};

/** A process that tells of many gateways, all of which have opened on their own evidence. */
export class Voter {
  private constructor(
    private readonly peers: Peers,
    private readonly timer: NodeJS.Timeout,
  ) {}

  /** `key`: the group's, or a stranger's own. */
  static async join(meeting: Meeting, key: string, votes: number): Promise<Voter> {
    const group = new Group({ name: "voter", now: () => performance.now(), isGrouped: true });
    const report = () => {
      for (let at = 0; at < votes; at++) {
        const gateway = { process: `${ownNumber}${at}`.padStart(16, "f"), node: "voter", policy: "full" };
        group.observe(gateway, [openReport()]);
      }
    };
    report();
    const log = pino({ level: "silent" });
    const peers = await openPeers(await settingsOf(meeting), parseKeys(key), group, log, {
      decorateExchange: (exchange) => new FaultyExchange(exchange, ownNumber, () => calm),
    });
    group.onChange(() => peers.publishSoon());
    return new Voter(peers, setInterval(report, reportEveryMs));
  }

  get reachable(): number | undefined {
    return this.peers.reachable;
  }

  async leave(): Promise<void> {
    clearInterval(this.timer);
    await this.peers.close();
  }
}

async function settingsOf({ engine, keyFile, addresses, redisUrl }: Meeting): Promise<PeersSettings> {
  if (engine === "redis") return { keyFile, redis: { url: redisUrl, channel: "llm-breaker/peers" } };
  return { keyFile, gossip: { listen: `127.0.0.1:${await freePort()}`, members: [...addresses] } };
}

function openReport(): BackendReport {
  return {
    ...blankReport("gpu"),
    state: "OPEN",
    generation: 1,
    openings: 1,
    cause: "CONSECUTIVE_FAILURES",
    stateAgeMs: 500,
    waitRemainingMs: 1_000,
    isEvidence: true,
    window,
    stageCap: 2,
    probeLeaseMs: 4_000,
    probeTimeoutMs: 2_000,
    counters: { ...NO_COUNTERS, opened: 1 },
  };
}

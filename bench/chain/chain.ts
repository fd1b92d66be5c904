// What the chain costs inside Envoy, each configuration beside what it is compared with, in turns.
import { loadavg } from "node:os";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import { freePort } from "../../test/support/ports.js";
import { Cell, cpuShare } from "../cell.js";
import {
  answeringItself,
  type Policy,
  shipped,
  withLongWait,
  withModule,
  withoutFilters,
  withPolicy,
} from "../configs.js";
import { differences, figure, ratios } from "../figures.js";
import { buildNoop } from "../filters/wasm-peers.js";
import { Fleet } from "../fleet.js";
import { eventCount } from "../load/answers.js";
import type { Expectation, LoadSettings } from "../load/caller.js";
import { LiveStreams } from "../load/live-streams.js";
import { chatRequest, emptyRequest, type RequestOfLine } from "../load/requests.js";
import { Upstream } from "../load/upstream.js";
import { machine } from "../machine.js";
import { openAll } from "../open-all.js";
import type { Measured } from "../report/section.js";
import { warnOfFew } from "../turns.js";
import { chainSection } from "./section.js";
import { measureShares } from "./shares.js";
import { judge } from "./targets.js";

export interface ChainSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** In each cell, over all blocks. */
  readonly requests: number;
  readonly blocks: number;
  readonly liveStreams: number;
  readonly say: (line: string) => void;
}

const clients = 10000;
const connections = 8;
const warmUpRequests = 4000;
const idlePeriodMs = 1500;

const tinyRequest = chatRequest("tiny", 20, false);
const largeRequest = chatRequest("events", 20_000, true);
const holdRequest = chatRequest("hold", 20, true);

const answered = { status: 200 };
const answeredByGpu = { status: 200, head: "x-llm-breaker-backend: gpu" };

export async function measureChain(settings: ChainSettings): Promise<Measured> {
  const { say } = settings;
  const upstreamPort = await freePort();
  const upstream = await Upstream.listen(upstreamPort);
  const fleet = new Fleet(settings.modules, upstreamPort);
  const streams = new LiveStreams();
  try {
    const bare = await fleet.addEnvoy(withoutFilters(shipped("minimal.yaml", fleet.folder)));
    const noop = await fleet.addEnvoy(withModule(shipped("minimal.yaml", fleet.folder), buildNoop()));
    const minimal = await fleet.addEnvoy(shipped("minimal.yaml", fleet.folder));
    const full = await fleet.addEnvoy(shipped("full.yaml", fleet.folder));
    const live = await fleet.addEnvoy(withPolicy(shipped("full.yaml", fleet.folder), withPatience));
    // No service runs here, and what the guard keeps from a backend never opens it.
    const unguarded = withoutFilters(shipped("full.yaml", fleet.folder), "llm.breaker.guard");
    const open = await fleet.addEnvoy(withLongWait(unguarded));
    const refusal = await openAll(open, clients);
    const direct = await fleet.addEnvoy(
      answeringItself(withoutFilters(shipped("full.yaml", fleet.folder)), refusal),
    );
    say(`opening ${settings.liveStreams} live streams`);
    await streams.open(live.port(clients), holdRequest, settings.liveStreams);

    const onPiece = (line: number): void => upstream.sendNextEvent(line);
    let idleShare = 0;
    const load = (envoy: RunningEnvoy, request: RequestOfLine, expect: Expectation): LoadSettings => ({
      port: envoy.port(clients),
      request,
      expect,
      connections,
      onPiece,
    });
    const refused = { status: refusal.status, head: "x-llm-breaker-reason: exhausted" };
    const cells = {
      bare: new Cell("bare", bare.pid, load(bare, tinyRequest, answered)),
      noop: new Cell("noop", noop.pid, load(noop, tinyRequest, answered)),
      minimal: new Cell("minimal", minimal.pid, load(minimal, tinyRequest, answered)),
      full: new Cell("full", full.pid, load(full, tinyRequest, answeredByGpu)),
      live: new Cell("live", live.pid, load(live, tinyRequest, answeredByGpu), () => idleShare),
      bare20kB: new Cell("bare20kB", bare.pid, load(bare, largeRequest, answered)),
      full20kB: new Cell("full20kB", full.pid, load(full, largeRequest, answeredByGpu)),
      reject: new Cell("reject", open.pid, load(open, emptyRequest, refused)),
      direct: new Cell("direct", direct.pid, load(direct, emptyRequest, refused)),
    };
    const all = Object.values(cells);
    for (const cell of all) await cell.warmUp(warmUpRequests);

    const idleShares: number[] = [];
    const perBlock = Math.ceil(settings.requests / settings.blocks);
    warnOfFew(perBlock, say);
    for (let block = 1; block <= settings.blocks; block++) {
      idleShare = await cpuShare(live.pid, idlePeriodMs);
      idleShares.push(idleShare * 100);
      const shown: string[] = [];
      for (const cell of all) shown.push(`${cell.name} ${(await cell.measure(perBlock)).toFixed(1)}`);
      say(`block ${block} of ${settings.blocks}: ${shown.join(" · ")}`);
    }
    for (const cell of all) cell.close();

    if (streams.live !== settings.liveStreams) {
      throw new Error(`only ${streams.live} of ${settings.liveStreams} live streams were alive at the end`);
    }
    for (const cell of [cells.bare20kB, cells.full20kB]) {
      if (cell.piecesPerAnswer < eventCount * 0.8) {
        throw new Error(
          `${cell.name}: ${cell.piecesPerAnswer} pieces an answer: events were not read one by one`,
        );
      }
    }
    await checkServedBy(full, cells.full.requests + cells.full20kB.requests);
    await checkJudged(minimal, cells.minimal.requests);

    const figures = {
      bareUs: figure(cells.bare.blocks),
      noopAddedUs: figure(differences(cells.noop.blocks, cells.bare.blocks)),
      minimalAddedUs: figure(differences(cells.minimal.blocks, cells.bare.blocks)),
      fullAddedUs: figure(differences(cells.full.blocks, cells.bare.blocks)),
      fullAddedUs20kB: figure(differences(cells.full20kB.blocks, cells.bare20kB.blocks)),
      rejectCpuVsDirectResponse: figure(ratios(cells.reject.blocks, cells.direct.blocks), 2),
      fullAddedUsAt5000LiveStreams: figure(differences(cells.live.blocks, cells.bare.blocks)),
    };
    const targets = judge(figures);
    const isMissed = Object.values(targets).some((verdict) => !verdict.pass);
    const shares = (): Promise<Record<string, number>> => {
      say("a target is missed: measuring where the time goes");
      return measureShares({
        full: () => shipped("full.yaml", fleet.folder),
        addEnvoy: (config) => fleet.addEnvoy(config),
        load: (envoy) => load(envoy, tinyRequest, answered),
      });
    };
    const bases = {
      bareUs20kB: figure(cells.bare20kB.blocks),
      rejectUs: figure(cells.reject.blocks),
      directResponseUs: figure(cells.direct.blocks),
    };
    const raw = {
      ...Object.fromEntries(Object.entries(figures).map(([name, { median }]) => [name, median])),
      requestsEach: perBlock * settings.blocks,
      blocks: settings.blocks,
      spread: Object.fromEntries(Object.entries(figures).map(([name, { spread }]) => [name, spread])),
      targets,
      ...(isMissed && { whereFullTimeGoes: await shares() }),
      details: {
        liveStreams: settings.liveStreams,
        idleCpuPercentAt5000: figure(idleShares, 2).median,
        bareUs20kB: bases.bareUs20kB.median,
        rejectUs: bases.rejectUs.median,
        directResponseUs: bases.directResponseUs.median,
        piecesPerAnswer: {
          bare: Number(cells.bare20kB.piecesPerAnswer.toFixed(1)),
          full: Number(cells.full20kB.piecesPerAnswer.toFixed(1)),
        },
        loadAverage: loadavg()[0],
      },
      machine: await machine(),
    };
    return { raw, section: chainSection(figures, bases, targets) };
  } finally {
    streams.close();
    await fleet.stop();
    upstream.close();
  }
}

/** Silent streams stay: without this the breaker would end them. */
function withPatience(policy: Policy): void {
  policy.chains.chat.stallTimeout = "3600s";
}

/** Envoy's own count: every request went to the first tier once, none anywhere else. */
async function checkServedBy(envoy: RunningEnvoy, requests: number): Promise<void> {
  const totals = await envoy.stats("^cluster\\.(gpu|small|public)\\.upstream_rq_total$");
  const expected = { gpu: requests, small: 0, public: 0 };
  for (const [name, count] of Object.entries(expected)) {
    const seen = totals.get(`cluster.${name}.upstream_rq_total`);
    if (seen !== count) throw new Error(`backend ${name} got ${seen} requests instead of ${count}`);
  }
}

/** minimal.yaml tells callers nothing: that the breaker judged their answers is seen by its own count. */
async function checkJudged(envoy: RunningEnvoy, requests: number): Promise<void> {
  const judged = await envoy.stat("wasmcustom.llm_breaker.gpu.outcome.success");
  if (judged !== requests) throw new Error(`minimal.yaml judged ${judged} of ${requests} answers`);
}

// What reading an event stream costs inside Envoy, with the whole chain against the same Envoy without filters, in turns.
import { loadavg } from "node:os";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { Cell, cpuShare } from "../cell.js";
import { shipped, unmatchedTo, withoutFilters } from "../configs.js";
import { differences, figure } from "../figures.js";
import { Fleet } from "../fleet.js";
import { type StreamShape, tokenEventBytes } from "../load/event-stream.js";
import { PacedProcess } from "../load/paced-process.js";
import { streamRequest } from "../load/requests.js";
import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { streamSection } from "./section.js";
import { measureTokenDelay } from "./token-delay.js";

export interface StreamSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** Streamed answers in each cell, over all blocks. */
  readonly responses: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
}

const clients = 10000;
const connections = 96;
const events = 500;
const batch = 8;
/** With so many streams Envoy is as busy as a gateway whose CPU matters, and yet reads one event before the next is sent. */
const gapMs = 8;
/** Fewer pieces than this share of the events: Envoy was too late, and read several at once. */
const leastPiecesShare = 0.8;
const idlePeriodMs = 1500;

const targets = {
  perEventAloneUs: 3,
  perEventBatchedUs: 1,
  readingPerEventAloneUs: 3,
  readingPerEventBatchedUs: 1,
  addedTokenMsP50: 0.2,
};

const alone: StreamShape = { events, eventsPerWrite: 1, waitMs: 0, gapMs };
const batched: StreamShape = { ...alone, eventsPerWrite: batch };

export async function measureStream(settings: StreamSettings): Promise<Measured> {
  const { say, blocks } = settings;
  const upstream = await PacedProcess.start();
  const fleet = new Fleet(settings.modules, upstream.port);
  try {
    const bare = await fleet.addEnvoy(unmatchedTo(withoutFilters(shipped("full.yaml", fleet.folder)), "gpu"));
    const full = await fleet.addEnvoy(shipped("full.yaml", fleet.folder));
    // Gate and meter alone: what reading costs, without the two filters that a stream only passes by.
    const reading = await fleet.addEnvoy(withoutBystanders(shipped("full.yaml", fleet.folder)));
    // The filter's ticks run without any stream too: they are no event's cost.
    const idleShares = new Map<RunningEnvoy, number>();
    const cell = (name: string, envoy: RunningEnvoy, shape: StreamShape, head?: string): Cell => {
      const expect = { status: 200, ...(head && { head }) };
      const load = { port: envoy.port(clients), request: streamRequest(shape, 20), expect, connections };
      return new Cell(name, envoy.pid, load, () => idleShares.get(envoy) ?? 0);
    };
    const byGpu = "x-llm-breaker-backend: gpu";
    const cells = {
      bareAlone: cell("bareAlone", bare, alone),
      fullAlone: cell("fullAlone", full, alone, byGpu),
      bareBatched: cell("bareBatched", bare, batched),
      fullBatched: cell("fullBatched", full, batched, byGpu),
      readingAlone: cell("readingAlone", reading, alone, byGpu),
      readingBatched: cell("readingBatched", reading, batched, byGpu),
    };
    const all = Object.values(cells);
    for (const each of all) await each.warmUp(connections);

    for (const envoy of [bare, full, reading]) idleShares.set(envoy, await cpuShare(envoy.pid, idlePeriodMs));

    const perBlock = Math.ceil(settings.responses / blocks);
    for (let block = 1; block <= blocks; block++) {
      const shown: string[] = [];
      for (const each of block % 2 ? all : all.toReversed()) {
        shown.push(`${each.name} ${(await each.measure(perBlock)).toFixed(0)}`);
      }
      say(`block ${block} of ${blocks}, µs a response: ${shown.join(" · ")}`);
    }
    for (const each of all) each.close();
    say("measuring how long a token takes");
    const delay = await measureTokenDelay(bare, full, { port: clients, blocks });

    checkPieces([cells.bareAlone, cells.fullAlone, cells.readingAlone], events);
    await checkJudged(full, cells.fullAlone.requests + cells.fullBatched.requests + blocks + 1);
    await checkJudged(reading, cells.readingAlone.requests + cells.readingBatched.requests);

    const addedAlone = differences(cells.fullAlone.blocks, cells.bareAlone.blocks);
    const addedBatched = differences(cells.fullBatched.blocks, cells.bareBatched.blocks);
    const readingAlone = differences(cells.readingAlone.blocks, cells.bareAlone.blocks);
    const readingBatched = differences(cells.readingBatched.blocks, cells.bareBatched.blocks);
    const figures = {
      perResponseUs: figure(addedAlone),
      perEventAloneUs: figure(perEvent(addedAlone), 2),
      perEventBatchedUs: figure(perEvent(addedBatched), 2),
      readingPerEventAloneUs: figure(perEvent(readingAlone), 2),
      readingPerEventBatchedUs: figure(perEvent(readingBatched), 2),
      addedTokenMsP50: delay.addedMsP50,
      addedTokenMsP99: delay.addedMsP99,
    };
    const bases = {
      barePerEventAloneUs: figure(perEvent(cells.bareAlone.blocks), 2),
      barePerEventBatchedUs: figure(perEvent(cells.bareBatched.blocks), 2),
      bareTokenMsP50: delay.bareMsP50,
    };
    const raw = {
      ...Object.fromEntries(Object.entries(figures).map(([name, { median }]) => [name, median])),
      events,
      eventBytes: tokenEventBytes,
      responsesEach: perBlock * blocks,
      blocks,
      spreads: Object.fromEntries(Object.entries(figures).map(([name, { spread }]) => [name, spread])),
      targets,
      met: Object.fromEntries(
        Object.entries(targets).map(([name, target]) => [
          name,
          figures[name as keyof typeof targets].median <= target,
        ]),
      ),
      details: {
        perResponseBatchedUs: figure(addedBatched).median,
        barePerEventAloneUs: bases.barePerEventAloneUs.median,
        barePerEventBatchedUs: bases.barePerEventBatchedUs.median,
        bareTokenMsP50: bases.bareTokenMsP50.median,
        perEventOfOneStreamUs: delay.addedUs.median,
        idleCpuPercent: Number((100 * (idleShares.get(full) ?? 0)).toFixed(2)),
        eventsPerPiece: Object.fromEntries(
          all.map((each) => [each.name, Number((events / each.piecesPerAnswer).toFixed(2))]),
        ),
        loadAverage: loadavg()[0],
      },
      machine: await machine(),
    };
    return { raw, section: streamSection({ ...figures, ...bases }, targets) };
  } finally {
    await fleet.stop();
    await upstream.stop();
  }
}

function withoutBystanders(config: EnvoyConfig): EnvoyConfig {
  return withoutFilters(withoutFilters(config, "llm.breaker.count"), "llm.breaker.admit");
}

/** Everything that the chain adds to a response, its start and end too, over its events. */
function perEvent(perResponse: readonly number[]): number[] {
  return perResponse.map((us) => us / events);
}

function checkPieces(cells: readonly Cell[], expected: number): void {
  for (const cell of cells) {
    if (cell.piecesPerAnswer >= expected * leastPiecesShare) continue;
    throw new Error(`${cell.name}: ${cell.piecesPerAnswer} pieces an answer: events did not come alone`);
  }
}

/** The meter's own count: it has read every stream to its proper end. */
async function checkJudged(envoy: RunningEnvoy, responses: number): Promise<void> {
  const judged = await envoy.stat("wasmcustom.llm_breaker.gpu.outcome.success");
  if (judged !== responses) throw new Error(`the meter judged ${judged} of ${responses} answers a success`);
}

// What asking the service costs: its CPU a request, and what a caller waits.
import { loadavg } from "node:os";
import { type Line, linesConfig } from "../../test/support/asking-envoy.js";
import { type RunningEnvoy, startEnvoy } from "../../test/support/envoy.js";
import { freePort } from "../../test/support/ports.js";
import { Cell } from "../cell.js";
import { differences, type Figure, figure, ratios } from "../figures.js";
import { Upstream } from "../load/upstream.js";
import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { chatOf2kB } from "./body.js";
import { PacedCaller } from "./paced-caller.js";
import { type Peer, startGoPeer, startService } from "./peers.js";
import { DO_NOTHING } from "./roles.js";
import { extprocSection } from "./section.js";

export interface ExtprocSettings {
  /** In each cell, over all blocks. */
  readonly requests: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
}

const connections = 8;
const warmUpRequests = 4000;
const perSecond = 500;
const pacedMs = 2000;
const maxRatioToGo = 1.3;
/** Time-outs of a machine that is busy with other things may be some; more would hide what an answer costs. */
const mostUncounted = 0.01;

export async function measureExtproc(settings: ExtprocSettings): Promise<Measured> {
  const service = await startService();
  const go = await startGoPeer(settings.say);
  try {
    return await measure(settings, service, go);
  } finally {
    await service.stop();
    await go?.stop();
  }
}

async function measure(settings: ExtprocSettings, service: Peer, go: Peer | undefined): Promise<Measured> {
  const line = async (name: string, role?: string, peer = service): Promise<Line> => ({
    name,
    port: await freePort(),
    ...(role && { ask: { role, servicePort: peer.port } }),
  });
  const bare = await line("bare");
  const count = await line("count", "count");
  const nothing = await line("nothing", DO_NOTHING);
  const goNothing = go && (await line("go", DO_NOTHING, go));
  const lines = [bare, count, nothing, ...(goNothing ? [goNothing] : [])];
  const upstreamPort = await freePort();
  const upstream = await Upstream.listen(upstreamPort);
  const config = linesConfig(await freePort(), lines, upstreamPort);
  const envoy = await startEnvoy({ config, concurrency: 1, logLevel: "error" });
  try {
    const cpu = await measureCpu(settings, [
      cellOf(count, service),
      cellOf(nothing, service),
      ...(go && goNothing ? [cellOf(goNothing, go)] : []),
    ]);
    const added = await measureAdded(settings, bare.port, count.port);
    const uncounted = await uncountedShare(envoy, count.name);
    const figures = { ...cpu, p99AddedMs: added.p99 };
    const medians = Object.entries(figures).map(([name, { median }]) => [name, median]);
    const { doNothingVsGo } = cpu;
    const raw = {
      ...Object.fromEntries(medians),
      requestsEach: Math.ceil(settings.requests / settings.blocks) * settings.blocks,
      blocks: settings.blocks,
      spread: Object.fromEntries(Object.entries(figures).map(([name, { spread }]) => [name, spread])),
      ...(doNothingVsGo && {
        targets: { doNothingVsGo: { most: maxRatioToGo, pass: doNothingVsGo.median <= maxRatioToGo } },
      }),
      details: {
        p50AddedMs: added.p50.median,
        bareP99Ms: added.bareP99.median,
        perSecond,
        uncountedPercent: Number((uncounted * 100).toFixed(3)),
        loadAverage: loadavg()[0],
      },
      machine: await machine(),
    };
    const told = { ...figures, p50AddedMs: added.p50, bareP99Ms: added.bareP99 };
    return { raw, section: extprocSection(told, maxRatioToGo) };
  } finally {
    await envoy.stop();
    upstream.close();
  }
}

function cellOf({ name, port }: Line, peer: Peer): Cell {
  return new Cell(name, peer.pid, { port, request: chatOf2kB, expect: { status: 200 }, connections });
}

interface CpuFigures {
  readonly cpuUsPerRequest: Figure;
  readonly doNothingUs: Figure;
  readonly goDoNothingUs?: Figure;
  readonly doNothingVsGo?: Figure;
}

/** CPU of the asked process, in turns. */
async function measureCpu({ requests, blocks, say }: ExtprocSettings, cells: readonly Cell[]) {
  for (const cell of cells) await cell.warmUp(warmUpRequests);
  const perBlock = Math.ceil(requests / blocks);
  for (let block = 1; block <= blocks; block++) {
    const shown: string[] = [];
    for (const cell of cells) shown.push(`${cell.name} ${(await cell.measure(perBlock)).toFixed(1)}`);
    say(`block ${block} of ${blocks}: ${shown.join(" · ")} µs`);
  }
  for (const cell of cells) cell.close();
  const [count = [], nothing = [], go] = cells.map((cell) => cell.blocks);
  const figures: CpuFigures = {
    cpuUsPerRequest: figure(count),
    doNothingUs: figure(nothing),
    ...(go && { goDoNothingUs: figure(go), doNothingVsGo: figure(ratios(nothing, go), 2) }),
  };
  return figures;
}

/** What a caller waits for the count, at a steady rate, in turns with an Envoy that does not ask. */
async function measureAdded({ blocks, say }: ExtprocSettings, barePort: number, countPort: number) {
  const bare = new PacedCaller(barePort, chatOf2kB);
  const count = new PacedCaller(countPort, chatOf2kB);
  const times = {
    bareP50: [] as number[],
    bareP99: [] as number[],
    p50: [] as number[],
    p99: [] as number[],
  };
  for (const caller of [bare, count]) await caller.send(perSecond, pacedMs);
  for (let block = 1; block <= blocks; block++) {
    const without = await bare.send(perSecond, pacedMs);
    const asked = await count.send(perSecond, pacedMs);
    times.bareP50.push(without.getValueAtPercentile(50) / 1000);
    times.bareP99.push(without.getValueAtPercentile(99) / 1000);
    times.p50.push(asked.getValueAtPercentile(50) / 1000);
    times.p99.push(asked.getValueAtPercentile(99) / 1000);
    say(`block ${block} of ${blocks}: p99 ${times.bareP99.at(-1)} ms, asked ${times.p99.at(-1)} ms`);
  }
  bare.close();
  count.close();
  return {
    p50: figure(differences(times.p50, times.bareP50), 2),
    p99: figure(differences(times.p99, times.bareP99), 2),
    bareP99: figure(times.bareP99, 2),
  };
}

/**
 * The share of requests that were asked about in vain. ext_proc fails open: without a look at it a service that answers
 * nothing would look cheap.
 */
async function uncountedShare(envoy: RunningEnvoy, name: string): Promise<number> {
  const stats = await envoy.stats(`^http\\.${name}\\.`);
  const stat = (suffix: string) => stats.get(`http.${name}.${suffix}`) ?? 0;
  const requests = stat("downstream_rq_total");
  const asked = stat("ext_proc.streams_started");
  const failed = stat("ext_proc.streams_failed") + stat("ext_proc.message_timeouts");
  const share = (requests - asked + failed) / requests;
  if (share > mostUncounted)
    throw new Error(`${asked} of ${requests} requests were asked about, ${failed} of them in vain`);
  return share;
}

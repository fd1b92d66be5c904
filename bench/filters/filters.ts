// What other filters cost a request inside Envoy, and what the record's work costs in Rust and in AssemblyScript, in turns.
import { chat } from "../../test/support/client.js";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { freePort } from "../../test/support/ports.js";
import { Cell } from "../cell.js";
import { shipped, withoutFilters } from "../configs.js";
import { Fleet } from "../fleet.js";
import { answerHeader } from "../load/answers.js";
import { chatRequest } from "../load/requests.js";
import { Upstream } from "../load/upstream.js";
import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { measureInTurns } from "../turns.js";
import { admissionControl, type Filter, lua, wasm, withFilter } from "./peer-configs.js";
import { filtersResult } from "./report.js";
import { buildWasmPeers, type WasmPeers } from "./wasm-peers.js";

export interface FilterSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** In each cell, over all blocks. */
  readonly requests: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
  /** Names of the filters to measure; all by default. */
  readonly only?: readonly string[];
}

const clients = 10000;
const connections = 8;
const mostWarmUpRequests = 4000;
const tinyRequest = chatRequest("tiny", 20, false);

/** As many failures in a row open each of the breakers here. */
const failuresToOpen = 5;

export async function measureFilters(settings: FilterSettings): Promise<Measured> {
  const { modules, requests, blocks, say, only } = settings;
  const isWanted = (name: string): boolean => only?.includes(name) ?? true;
  const peers = buildWasmPeers(say, ["rustSdk", "rustBare", "rustPair"].some(isWanted));
  const upstreamPort = await freePort();
  const upstream = await Upstream.listen(upstreamPort);
  const fleet = new Fleet(modules, upstreamPort);
  try {
    const bare = (): EnvoyConfig => withoutFilters(shipped("minimal.yaml", fleet.folder));
    const envoys: Record<string, RunningEnvoy> = { bare: await fleet.addEnvoy(bare()) };
    for (const [name, filters] of Object.entries(filtersOf(peers))) {
      if (!isWanted(name)) continue;
      envoys[name] = await fleet.addEnvoy(withFilter(bare(), ...filters));
    }
    envoys.minimal = await fleet.addEnvoy(shipped("minimal.yaml", fleet.folder));

    const cells = Object.entries(envoys).map(([name, envoy]) => {
      const load = { port: envoy.port(clients), request: tinyRequest, expect: { status: 200 }, connections };
      return new Cell(name, envoy.pid, load);
    });
    for (const cell of cells) await cell.warmUp(Math.min(mostWarmUpRequests, requests));
    await measureInTurns(cells, { requests, blocks, say });
    for (const cell of cells) cell.close();

    for (const [name, envoy] of Object.entries(envoys)) {
      if (isBreaker(name)) await requireThatItOpens(name, envoy);
    }
    const measured = new Map(cells.map(({ name, blocks }) => [name, blocks]));
    const { raw, section } = filtersResult(measured, peers.whyNoRust);
    return { raw: { ...raw, machine: await machine() }, section };
  } finally {
    await fleet.stop();
    upstream.close();
  }
}

/** Of each the filter before the router, and the one in the cluster where there is one. */
function filtersOf({ assemblyScript, rust }: WasmPeers): Record<string, [Filter, Filter?]> {
  return {
    admissionControl: [admissionControl()],
    luaReads: [lua("two-headers.lua")],
    luaBreaker: [lua("breaker.lua")],
    assemblyScript: [wasm(assemblyScript)],
    ...(rust && {
      rustSdk: [wasm(rust.sdk)],
      rustBare: [wasm(rust.bare)],
      rustPair: [wasm(rust.sdk, "admit"), wasm(rust.sdk, "file", "behind the router")],
    }),
  };
}

function isBreaker(name: string): boolean {
  return !["bare", "admissionControl", "luaReads"].includes(name);
}

/** A filter that had not judged what passed would look cheap. */
async function requireThatItOpens(name: string, envoy: RunningEnvoy): Promise<void> {
  const url = envoy.url(clients);
  for (let count = 0; count < failuresToOpen; count++)
    await chat(url, { headers: { [answerHeader]: "dead" } });
  const { status } = await chat(url, { headers: { [answerHeader]: "tiny" } });
  if (status !== 503)
    throw new Error(`${name}: after ${failuresToOpen} failures it answers ${status}, not 503`);
}

// Instructions that Envoy executes for a request: steadier than time, blind to caches.
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { freePort } from "../../test/support/ports.js";
import { answeringItself, shipped, withLongWait, withModule, withoutFilters } from "../configs.js";
import { figure } from "../figures.js";
import { buildNoop, buildRefuse } from "../filters/wasm-peers.js";
import { Fleet } from "../fleet.js";
import type { LoadSettings } from "../load/caller.js";
import { chatRequest, emptyRequest } from "../load/requests.js";
import { Upstream } from "../load/upstream.js";
import { openAll } from "../open-all.js";
import type { Measured } from "../report/section.js";
import { Callgrind } from "./callgrind.js";
import { CountedEnvoy } from "./counted-envoy.js";
import { instructionsResult, unmeasured } from "./result.js";

export interface InstructionSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** In each cell, over all blocks. */
  readonly requests: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
}

const clients = 10000;
const connections = 4;
/** Of the machine's cores: each Envoy under valgrind needs one for its start. */
const atOnce = 2;

interface CellPlan {
  readonly config: EnvoyConfig;
  readonly kind: "answered" | "refused" | "direct";
}

export async function measureInstructions(settings: InstructionSettings): Promise<Measured> {
  const whyNot = Callgrind.whyNot();
  if (whyNot) return unmeasured(whyNot);
  const upstreamPort = await freePort();
  const upstream = await Upstream.listen(upstreamPort);
  const fleet = new Fleet(settings.modules, upstreamPort);
  const measured = new Map<string, readonly number[]>();
  try {
    const left = Object.entries(plansOf(fleet.folder, buildNoop(), buildRefuse()));
    const measureNext = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [name, plan] = next;
        measured.set(name, await countCell(fleet, plan, settings));
        settings.say(`${name}: ${(figure(measured.get(name) ?? []).median / 1000).toFixed(1)} thousand`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, measureNext));
    return instructionsResult(measured);
  } finally {
    await fleet.stop();
    upstream.close();
  }
}

function plansOf(modules: string, noop: string, refuse: string): Record<string, CellPlan> {
  const minimal = (): EnvoyConfig => shipped("minimal.yaml", modules);
  const full = (): EnvoyConfig => shipped("full.yaml", modules);
  return {
    full: { config: full(), kind: "answered" },
    refusal: { config: withLongWait(withoutFilters(full(), "llm.breaker.guard")), kind: "refused" },
    minimal: { config: minimal(), kind: "answered" },
    noop: { config: withModule(minimal(), noop), kind: "answered" },
    bare: { config: withoutFilters(minimal()), kind: "answered" },
    bareRefusal: { config: withModule(withGateAlone(full()), refuse), kind: "direct" },
    direct: { config: answeringItself(withoutFilters(full()), directAnswer), kind: "direct" },
  };
}

function withGateAlone(config: EnvoyConfig): EnvoyConfig {
  const others = ["count", "admit", "remember", "meter", "rewrite", "guard"];
  return others.reduce((rest, name) => withoutFilters(rest, `llm.breaker.${name}`), config);
}

/** As a refusal of full.yaml looks. */
const directAnswer = {
  status: 503,
  headers: { "content-type": "application/json", "x-llm-breaker-reason": "exhausted", "retry-after": "3600" },
  body:
    '{"error":{"message":"All backends are out of service at the moment. Please try again later.",' +
    '"type":"service_unavailable","param":null,"code":"llm_breaker_exhausted"}}',
};

async function countCell(fleet: Fleet, plan: CellPlan, settings: InstructionSettings): Promise<number[]> {
  const counted = await CountedEnvoy.start(fleet, plan.config);
  try {
    if (plan.kind === "refused") await openAll(counted.envoy, clients);
    const { requests, blocks } = settings;
    const perBlock = Math.ceil(requests / blocks);
    return await counted.count(loadOf(plan, counted.envoy.port(clients)), { requests: perBlock, blocks });
  } finally {
    await counted.stop();
  }
}

function loadOf(plan: CellPlan, port: number): LoadSettings {
  if (plan.kind === "answered") {
    return { port, connections, request: chatRequest("tiny", 20, false), expect: { status: 200 } };
  }
  return {
    port,
    connections,
    request: emptyRequest,
    expect: { status: 503, head: "x-llm-breaker-reason: exhausted" },
  };
}

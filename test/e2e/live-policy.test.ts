import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse, stringify } from "yaml";
import { chat } from "../support/client.js";
import { readEnvoyConfig } from "../support/envoy-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { waitFor } from "../support/wait-for.js";
import { ConfigMap } from "./support/config-map.js";
import { OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import {
  chainOf,
  connectionManager,
  type Filter,
  gateOf,
  type PolicyJson,
  policyOf,
  type ShippedConfig,
  setPolicyText,
  shipped,
} from "./support/shipped-config.js";

// The gate that full.yaml shows commented out, fed by a ConfigMap that changes under load.

const PUSHES = 30;
const CALL_EVERY_MS = 5;
const STREAMS = 8;
const streamed = { kind: "sse", events: 120, gapMs: 50 } as const;

const fullFile = join(findRepoRoot(), "envoy", "full.yaml");
const liveFile = join(findRepoRoot(), "envoy", "live-policy.yaml");

let rig: Rig;
let configMap: ConfigMap;
let policy: PolicyJson;
let load: Load | undefined;

interface LiveFile {
  resources: [Filter];
}

/** The lines behind `marker` that are commented out, without their `#`. */
function shownEntry(): Filter {
  const text = readFileSync(fullFile, "utf8");
  const [, lines = ""] =
    /^ *# In place of the entry above[^\n]*\n(?: *#[^\n]*\n)*?((?: *# *- name: llm\.breaker\.gate\n)(?: *#[^\n]*\n)*)/m.exec(
      text,
    ) ?? [];
  const [entry] = parse(lines.replaceAll(/^ *# /gm, "")) as [Filter];
  return entry;
}

/** live-policy.yaml with another policy. */
function liveText(given: PolicyJson): string {
  const live = parse(readFileSync(liveFile, "utf8")) as LiveFile;
  setPolicyText(live.resources[0], JSON.stringify(given));
  return stringify(live);
}

function useConfigMap(config: ShippedConfig): void {
  const { http_filters } = connectionManager(config);
  const gate = gateOf(config);
  policy = policyOf(gate);
  configMap = new ConfigMap("live-policy.yaml", liveText(policy));
  const entry = JSON.stringify(shownEntry()).replaceAll("/etc/llm-breaker", configMap.folder);
  assert.ok(entry.includes(configMap.file), entry);
  http_filters[http_filters.indexOf(gate)] = JSON.parse(entry);
}

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => Object.assign(breaker, staysOpen),
    patch: useConfigMap,
  });
});

after(async () => {
  await load?.stop();
  await rig?.stop();
  configMap?.remove();
});

test("live-policy.yaml holds the very gate of full.yaml", () => {
  const { name, typed_config } = gateOf(shipped(readEnvoyConfig(fullFile)));
  const { "@type": _, ...live } = (parse(readFileSync(liveFile, "utf8")) as LiveFile)
    .resources[0] as Filter & {
    "@type": string;
  };
  assert.deepEqual(live, { name, typed_config });
});

test(`${PUSHES} policies under 200 requests a second: no caller fails, the last one holds, a wrong one is refused, Open stays Open`, async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
  rig.reset();
  rig.small.mode = streamed;
  const streams = Array.from({ length: STREAMS }, () => chat(rig.url, { stream: true }));
  await waitFor(() => rig.small.active === STREAMS, 5_000, "live streams");
  rig.small.mode = { kind: "ok" };
  load = new Load(rig.url);

  for (let push = 1; push <= PUSHES; push++) {
    const isWrong = push === PUSHES / 2;
    await swap(variant(push, isWrong), isWrong ? "config_fail" : "config_reload");
  }
  assert.ok(rig.small.active >= STREAMS, "the streams were live all the time");
  const headerless = async () => !("x-llm-breaker-backend" in (await chat(rig.url)).headers);
  await waitFor(headerless, 5_000, "the last policy in force");

  const { statuses, perSecond } = await load.stop();
  assert.deepEqual([...statuses.keys()], [200], `${JSON.stringify([...statuses])}`);
  assert.ok(perSecond > 100, `${perSecond} requests a second are no load`);
  for (const { complete, text } of await Promise.all(streams)) assert.ok(complete && text.includes("[DONE]"));
  const refusal = rig.envoy.log.matching(/the policy is refused, nothing changed/);
  assert.match(refusal[0] ?? "", /breaker\.failureRateThreshold/);
  assert.equal(await rig.state(), OPEN);
  assert.equal(rig.gpu.arrivals.length, 0);
});

/** Each is another text; the last one answers without our headers. */
function variant(push: number, isWrong: boolean): PolicyJson {
  const next = structuredClone(policy);
  next.breaker.failureRateThreshold = isWrong ? 101 : 30 + push;
  chainOf(next).answerHeaders = push !== PUSHES;
  return next;
}

async function swap(next: PolicyJson, wanted: "config_reload" | "config_fail"): Promise<void> {
  const count = () => rig.envoy.stat(`extension_config_discovery.http_filter.llm.breaker.gate.${wanted}`);
  const before = await count();
  configMap.write(liveText(next));
  await waitFor(async () => (await count()) > before, 5_000, `${wanted} of the pushed policy`);
}

/** Callers that come by the clock, however long the others take. */
class Load {
  private readonly calls: Promise<number>[] = [];
  private readonly startMs = performance.now();
  private readonly timer: NodeJS.Timeout;

  constructor(url: string) {
    const call = async () => {
      const { status, complete } = await chat(url);
      return complete ? status : 0;
    };
    this.timer = setInterval(() => {
      const due = (performance.now() - this.startMs) / CALL_EVERY_MS;
      while (this.calls.length < due) this.calls.push(call());
    }, CALL_EVERY_MS);
  }

  /** How many calls ended with which status; 0 = broken. */
  async stop(): Promise<{ statuses: Map<number, number>; perSecond: number }> {
    clearInterval(this.timer);
    const perSecond = (this.calls.length / (performance.now() - this.startMs)) * 1_000;
    const statuses = new Map<number, number>();
    for (const status of await Promise.all(this.calls)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    return { statuses, perSecond };
  }
}

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { send } from "../support/client.js";
import { metricsOf, scrape, selectorsOf } from "../support/prometheus-page.js";
import { findRepoRoot } from "../support/repo-root.js";
import { waitFor } from "../support/wait-for.js";
import { isProbe, OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";

const counters = ["permitted", "refused", "limited", "shed"].map((name) => `llm_breaker_${name}`);
const offered = "llm_breaker_offered_requests_total";

let rig: Rig;

before(async () => {
  rig = await startRig({ policy: (policy) => Object.assign(policy.breaker, staysOpen) });
});

after(() => rig.stop());

interface Adapter {
  data: { "config.yaml": string };
}

interface Autoscaler {
  spec: { metrics: { external: { metric: { name: string } } }[] };
}

interface ScaledObject {
  spec: { triggers: { metadata: { query: string } }[] };
}

function documentOf<T>(file: string, index: number): T {
  const text = readFileSync(join(findRepoRoot(), "envoy", "autoscaling", file), "utf8");
  const document = parseAllDocuments(text)[index];
  assert.deepEqual(document?.errors, []);
  return document.toJS() as T;
}

/** Every query of the manifests. */
function queries(): string[] {
  const rules = documentOf<Adapter>("hpa.yaml", 0).data["config.yaml"];
  const { externalRules } = parse(rules) as { externalRules: { metricsQuery: string }[] };
  const { triggers } = documentOf<ScaledObject>("keda.yaml", 0).spec;
  return [
    ...externalRules.map((rule) => rule.metricsQuery),
    ...triggers.map(({ metadata }) => metadata.query),
  ];
}

const namesIn = (query: string): string[] => selectorsOf(query).map(({ name }) => name);

const envoyPage = (): Promise<string> => scrape(`${rig.envoy.url(9901)}/stats/prometheus`);
const servicePage = (): Promise<string> => scrape(`${rig.service?.httpUrl}/metrics`);

async function offeredToGpu(): Promise<number> {
  const line = /^llm_breaker_offered_requests_total\{[^}]*backend="gpu"[^}]*\} (\d+)/m;
  return Number(line.exec(await servicePage())?.[1] ?? Number.NaN);
}

function ask(): Promise<unknown> {
  const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "hi" }] });
  return send(`${rig.url}/v1/chat/completions`, { body });
}

test("the manifests scale by all that comes to a backend, under names that Envoy and the service print", async () => {
  await waitFor(async () => (await servicePage()).includes(`${offered}{`), 5_000, "a gateway's figures");
  const [byEnvoy, byService] = [metricsOf(await envoyPage()), metricsOf(await servicePage())];
  const asked = queries().map(namesIn);
  assert.equal(asked.length, 4);
  for (const names of asked) {
    if (names.includes(offered)) assert.deepEqual(names, [offered]);
    else assert.deepEqual(names, counters);
    const printed = names.includes(offered) ? byService : byEnvoy;
    for (const name of names) assert.ok(printed.get(name)?.labels?.includes("backend"), name);
  }
});

test("the autoscaler's metric is the one that the rules make", () => {
  const rules = documentOf<Adapter>("hpa.yaml", 0).data["config.yaml"];
  const { metrics } = documentOf<Autoscaler>("hpa.yaml", 1).spec;
  assert.equal(metrics.length, 1);
  for (const { external } of metrics) assert.match(rules, new RegExp(`as: ${external.metric.name} `));
});

test("what comes to a backend that is Open counts as before", async () => {
  await waitFor(async () => !Number.isNaN(await offeredToGpu()), 5_000, "a gateway's figures");
  rig.gpu.mode = { kind: "status", status: 500 };
  const isOpen = async () => {
    await ask();
    return (await rig.state()) === OPEN;
  };
  await waitFor(isOpen, 5_000, "an opening");
  const attempts = rig.gpu.arrivals.filter(({ body }) => !isProbe(body)).length;
  for (let count = 0; count < 7; count++) await ask();
  await waitFor(async () => (await offeredToGpu()) >= attempts + 7, 5_000, "all that came");
  await waitForCalm();
  assert.equal(await offeredToGpu(), attempts + 7);
});

/** Until the service has heard of everything so far. */
async function waitForCalm(): Promise<void> {
  const inEnvoy = async () => {
    const page = await envoyPage();
    return counters.reduce(
      (sum, name) => sum + Number(new RegExp(`^${name}\\{backend="gpu"\\} (\\d+)`, "m").exec(page)?.[1]),
      0,
    );
  };
  let last = -1;
  const isCalm = async () => {
    const [now, told] = [await inEnvoy(), await offeredToGpu()];
    const isSame = now === last && now === told;
    last = now;
    return isSame;
  };
  await waitFor(isCalm, 6_000, "the same figures at both");
}

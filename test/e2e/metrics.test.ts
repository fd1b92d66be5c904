import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chat, send } from "../support/client.js";
import { alerts, panelQueries, scrapedPath, variableQueries } from "../support/observability/files.js";
import { freePort } from "../support/ports.js";
import { hasLine, type Metrics, metricsOf, scrape, selectorsOf } from "../support/prometheus-page.js";
import { findRepoRoot } from "../support/repo-root.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { type Rig, startRig, staysOpen } from "./support/rig.js";

// What Envoy and the service print after an outage, against docs/metrics.md.

let rig: Rig;
let engine: Upstream;
let folder: string;
let envoyPage: string;
let servicePage: string;

before(async () => {
  const body = 'vllm:kv_cache_usage_perc{model_name="qwen3-32b"} 0.5\nvllm:num_requests_waiting 1\n';
  const headers = { "content-type": "text/plain" };
  engine = await startUpstream({ mode: { kind: "status", status: 200, headers, body } });
  folder = mkdtempSync(join(tmpdir(), "metrics-"));
  const keyFile = join(folder, "peers.key");
  writeFileSync(keyFile, "a secret of the group, long enough for it", { mode: 0o600 });
  const [adminPort, gossipPort] = [await freePort(), await freePort()];
  const gossip = { listen: `127.0.0.1:${gossipPort}`, members: [`127.0.0.1:${gossipPort}`] };
  rig = await startRig({
    adminPort,
    serviceConfig: {
      signals: { backends: { gpu: { metrics: `http://127.0.0.1:${engine.port}/metrics` } } },
      peers: { keyFile, gossip },
    },
    policy: (policy) => Object.assign(policy.breaker, staysOpen),
  });
  await chat(rig.url);
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  await rig.waitForState(1);
  await chat(rig.url);
  const word = JSON.stringify({ for: "10m", why: "a test" });
  const url = `http://127.0.0.1:${adminPort}/v1/backends/public/open`;
  const isTaken = async () => (await send(url, { body: word })).status === 200;
  await waitFor(isTaken, 10_000, "a service that knows the backend");
  await waitFor(takePages, 10_000, "all that was done on both pages");
});

after(async () => {
  await rig?.stop();
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function takePages(): Promise<boolean> {
  envoyPage = await scrape(`${rig.envoy.url(9901)}/stats/prometheus`);
  servicePage = await scrape(`${rig.service?.httpUrl}/metrics`);
  return (
    /^llm_breaker_chain_requests\{chain="chat"\} 3$/m.test(envoyPage) &&
    /^llm_breaker_diverted_requests_total\{.*\} 2$/m.test(servicePage) &&
    servicePage.includes("llm_breaker_override_remaining_seconds{") &&
    servicePage.includes("llm_breaker_first_token_seconds{") &&
    envoyPage.includes("llm_breaker_first_token_ms_bucket{")
  );
}

const ours = (page: string, prefix: RegExp): Metrics =>
  new Map([...metricsOf(page)].filter(([name]) => prefix.test(name)));

/** The rows of one section's table. */
function documented(title: string): Metrics {
  const text = readFileSync(join(findRepoRoot(), "docs", "metrics.md"), "utf8");
  const section = text.split(/^## /m).find((each) => each.startsWith(title));
  assert.ok(section !== undefined, title);
  const rows = [...section.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm)];
  return new Map(
    rows.map(([, name = "", kind = "", labels = ""]) => {
      return [name, { kind, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label) }];
    }),
  );
}

/** Their first line takes hundreds of calls, or a webhook. */
const late = ["llm_breaker_first_token_baseline_seconds", "llm_breaker_webhook_deliveries_total"];

function compare(printed: Metrics, told: Metrics): void {
  assert.deepEqual([...printed.keys()].sort(), [...told.keys()].sort());
  for (const [name, { kind, labels }] of printed) {
    assert.equal(told.get(name)?.kind, kind, name);
    if (!late.includes(name)) assert.deepEqual(labels, told.get(name)?.labels, name);
  }
}

describe("docs/metrics.md has every metric, its kind and its labels, and none that is not", () => {
  test("of Envoy", () => compare(ours(envoyPage, /^llm_breaker_/), documented("Envoy's")));

  test("with steps that tell a slow first token from a very slow one", () => {
    const steps = envoyPage.matchAll(/^llm_breaker_first_token_ms_bucket\{backend="gpu",le="([^"]+)"\}/gm);
    const wanted = [
      "50",
      "100",
      "250",
      "500",
      "1000",
      "2500",
      "5000",
      "10000",
      "20000",
      "40000",
      "80000",
      "160000",
    ];
    assert.deepEqual(
      [...steps].map(([, step]) => step),
      [...wanted, "+Inf"],
    );
  });

  test("of the service", () => {
    compare(ours(servicePage, /^llm_breaker_(?!service_)/), documented("The service's"));
    assert.match(servicePage, /^llm_breaker_service_process_cpu_seconds_total /m);
  });
});

describe("what is asked for is on the pages that prometheus.yaml names, under these labels", () => {
  let pages: string;
  before(async () => {
    const envoy = await scrape(`${rig.envoy.url(9901)}${scrapedPath("llm-breaker-envoy")}`);
    pages = `${envoy}\n${await scrape(`${rig.service?.httpUrl}${scrapedPath("llm-breaker-service")}`)}`;
  });

  const ask = (queries: readonly string[]) => {
    const printed = metricsOf(pages);
    const selectors = queries.flatMap(selectorsOf);
    assert.ok(selectors.length > 1);
    for (const selector of selectors) {
      const { name, labels } = selector;
      assert.ok(printed.has(name), name);
      if (late.includes(name)) continue;
      for (const label of labels) assert.ok(printed.get(name)?.labels?.includes(label), `${name} ${label}`);
      assert.ok(hasLine(pages, selector), JSON.stringify(selector));
    }
  };

  test("by the alerts", () => ask(alerts().map(({ expr }) => expr)));
  test("by the dashboard", () => ask(panelQueries()));
  test("by its variables", () => ask(variableQueries()));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_COUNTERS } from "../../../extproc/sync/blank.js";
import { defineGatewayMetrics } from "../../../extproc/telemetry/gateway-metrics.js";
import { MetricsPage } from "../../../extproc/telemetry/metrics-page.js";
import { SyncFleet } from "../support/sync-fleet.js";
import { report } from "../support/sync-messages.js";

const IN_CHAT = 'backend="gpu",policy="chat"';

/** Our lines, without Node's own figures. */
async function linesOf(fleet: SyncFleet): Promise<string[]> {
  const page = new MetricsPage();
  defineGatewayMetrics(page, fleet.gateways);
  return (await page.text()).split("\n").filter((line) => /^llm_breaker_(?!service_)/.test(line));
}

async function figureOf(fleet: SyncFleet, series: string): Promise<number | undefined> {
  const line = (await linesOf(fleet)).find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

function counted(permitted: number, refused = 0, limited = 0, shed = 0) {
  return report("gpu", { counters: { ...NO_COUNTERS, permitted, refused, limited, shed } });
}

test("counts what was offered, over restarts of Envoy and over all gateways", async () => {
  const fleet = new SyncFleet();
  const offered = () => figureOf(fleet, `llm_breaker_offered_requests_total{${IN_CHAT}}`);
  assert.equal(await offered(), undefined);
  fleet.sync([counted(10, 20, 3, 4)], { asksRestore: true });
  assert.equal(await offered(), 37);
  fleet.sync([counted(11, 20, 3, 4)]);
  assert.equal(await offered(), 38);
  // Its successor starts from 0, another gateway too.
  fleet.sync([counted(5)], { process: "bb", asksRestore: true });
  fleet.sync([counted(2)], { process: "cc", node: "other", asksRestore: true });
  assert.equal(await offered(), 45);
  assert.equal(await figureOf(fleet, `llm_breaker_refused_requests_total{${IN_CHAT}}`), 20);
  assert.equal(await figureOf(fleet, `llm_breaker_shed_requests_total{${IN_CHAT}}`), 4);
});

test("a restart of the service makes no load of what was counted before", async () => {
  const fleet = new SyncFleet();
  fleet.sync([counted(1_000_000)]);
  fleet.sync([counted(1_000_007)]);
  assert.equal(await figureOf(fleet, `llm_breaker_offered_requests_total{${IN_CHAT}}`), 7);
});

test("a figure that goes back, or a gateway that was away, counts nothing twice", async () => {
  const fleet = new SyncFleet();
  fleet.sync([counted(100)], { asksRestore: true });
  fleet.sync([counted(90)]);
  fleet.pass(60_000);
  fleet.sync([counted(110)]);
  assert.equal(await figureOf(fleet, `llm_breaker_permitted_requests_total{${IN_CHAT}}`), 120);
});

test("tells outcomes, transitions and states", async () => {
  const fleet = new SyncFleet();
  const transition = {
    generation: 2,
    from: "CLOSED",
    to: "OPEN",
    stage: 0,
    cause: "COST_RATE",
    openings: 1,
  } as const;
  const figures = { ageMs: 0, waitMs: 1, calls: 1, weightedFailures: 1, consecutiveFailures: 1 };
  const opened = report("gpu", {
    state: "OPEN",
    generation: 2,
    counters: { ...NO_COUNTERS, success: 3, failure: 2, late: 1 },
    transitions: [{ ...transition, ...figures }],
  });
  fleet.sync([opened], { asksRestore: true });
  fleet.sync([report("gpu")], { process: "bb" });
  const lines = await linesOf(fleet);
  for (const line of [
    `llm_breaker_outcomes_total{${IN_CHAT},class="success"} 3`,
    `llm_breaker_outcomes_total{${IN_CHAT},class="failure"} 2`,
    `llm_breaker_outcomes_total{${IN_CHAT},class="late"} 1`,
    `llm_breaker_transitions_total{${IN_CHAT},cause="COST_RATE"} 1`,
    `llm_breaker_backend_state{${IN_CHAT},state="CLOSED"} 1`,
    `llm_breaker_backend_state{${IN_CHAT},state="OPEN"} 1`,
    `llm_breaker_backend_state{${IN_CHAT},state="HALF_OPEN"} 0`,
    'llm_breaker_gateways{policy="chat"} 2',
  ])
    assert.ok(lines.includes(line), `${line} in\n${lines.join("\n")}`);
  fleet.pass(3_000);
  fleet.gateways.sweep();
  assert.deepEqual(
    (await linesOf(fleet)).filter((line) => /gateways|state|age/.test(line)),
    [],
  );
});

test("tells signals when they are known, by their source, and nothing when they are not", async () => {
  const fleet = new SyncFleet();
  const kv = (source: string) =>
    figureOf(fleet, `llm_breaker_kv_cache_use_ratio{backend="gpu",source="${source}"}`);
  fleet.advice = {
    signals: { isFresh: true, isWhole: true, isQueueLong: false, kvCacheUse: 0.9, waiting: 0 },
  };
  fleet.sync([report("gpu", { load: { kvCacheUse: 0.4, ageMs: 1 } })]);
  fleet.sync([report("gpu", { load: { kvCacheUse: 0.7, ageMs: 1 } })], { process: "bb" });
  fleet.sync([report("gpu", { load: { kvCacheUse: 0.5, ageMs: 1 } })], { process: "cc" });
  assert.deepEqual([await kv("page"), await kv("headers")], [0.9, 0.7]);
  assert.equal(await figureOf(fleet, 'llm_breaker_waiting_requests{backend="gpu",source="page"}'), 0);
  assert.equal(
    await figureOf(fleet, 'llm_breaker_waiting_requests{backend="gpu",source="headers"}'),
    undefined,
  );
  fleet.advice = { signals: { isFresh: false, isWhole: false, isQueueLong: false, kvCacheUse: 0.9 } };
  for (const process of ["00000000000000aa", "bb", "cc"]) fleet.sync([report("gpu")], { process });
  assert.deepEqual([await kv("page"), await kv("headers")], [undefined, undefined]);
});

test("tells first tokens by the gateway that saw most of them, and their baseline once it is learnt", async () => {
  const fleet = new SyncFleet();
  const first = (quantile: string) =>
    figureOf(fleet, `llm_breaker_first_token_seconds{${IN_CHAT},quantile="${quantile}"}`);
  const baseline = () => figureOf(fleet, `llm_breaker_first_token_baseline_seconds{${IN_CHAT}}`);
  const latency = {
    samples: 9,
    p50Ms: 250,
    p99Ms: 1_500,
    judgedPercentile: 95,
    judgedMs: 900,
    baselineMs: 0,
  };
  fleet.sync([report("gpu")]);
  assert.deepEqual([await first("0.5"), await first("0.99"), await baseline()], Array(3).fill(undefined));
  fleet.sync([report("gpu", { latency })]);
  assert.deepEqual([await first("0.5"), await first("0.99"), await baseline()], [0.25, 1.5, undefined]);
  const busy = { ...latency, samples: 10, p50Ms: 400, baselineMs: 800 };
  fleet.sync([report("gpu", { latency: busy })], { process: "bb" });
  fleet.sync([report("gpu", { latency })]);
  assert.deepEqual([await first("0.5"), await baseline()], [0.4, 0.8]);
  const page = new MetricsPage();
  defineGatewayMetrics(page, fleet.gateways);
  assert.match(await page.text(), /^# TYPE llm_breaker_first_token_seconds summary$/m);
});

test("tells of the group and of operators' words", async () => {
  const fleet = new SyncFleet();
  const word = { mode: "forcedOpen", version: 1, isWithdrawn: false, who: "ada", why: "test" } as const;
  fleet.advice = {
    group: { mayProbeMs: 0, rampShare: 0, live: 7, evidence: 4 },
    override: { ...word, remainingMs: 90_000 },
  };
  fleet.sync([report("gpu")]);
  assert.equal(await figureOf(fleet, 'llm_breaker_group_live_gateways{backend="gpu"}'), 7);
  assert.equal(await figureOf(fleet, 'llm_breaker_group_evidence_gateways{backend="gpu"}'), 4);
  const remaining = 'llm_breaker_override_remaining_seconds{backend="gpu",mode="forcedOpen"}';
  assert.equal(await figureOf(fleet, remaining), 90);
  fleet.advice = { override: { ...word, isWithdrawn: true, remainingMs: 90_000 } };
  fleet.sync([report("gpu")]);
  assert.equal(await figureOf(fleet, remaining), undefined);
});

test("a name from outside is escaped, and pollutes nothing", async () => {
  const fleet = new SyncFleet();
  for (const name of ['a"b\\c\nd', "__proto__", "constructor"])
    fleet.sync([report(name)], { asksRestore: true });
  const lines = await linesOf(fleet);
  const offered = lines.filter((line) => line.startsWith("llm_breaker_offered_requests_total"));
  assert.equal(offered.length, 3);
  assert.ok(
    offered.some((line) => line.includes('backend="a\\"b\\\\c\\nd"')),
    offered.join(),
  );
});

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OutcomeCounts } from "./support/outcome-counts.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf, routeOf } from "./support/shipped-config.js";

// Attempts that Envoy makes, delays or gives up by itself: whose evidence they are.

describe("a cluster with a single connection", () => {
  let rig: Rig;
  let outcomes: OutcomeCounts;

  before(async () => {
    rig = await startRig({
      service: false,
      concurrency: 1,
      policy: (policy) => {
        neverOpen(policy);
        // One slow call would open.
        Object.assign(policy.breaker, {
          minimumNumberOfCalls: 1,
          slowCallRateThreshold: 40,
          slowFirstTokenThreshold: "1s",
        });
      },
      patch: (config) => {
        clusterOf(config, "gpu").circuit_breakers = {
          thresholds: [
            { priority: "HIGH", max_connections: 1, max_pending_requests: 100, max_retries: 1000 },
          ],
        };
      },
    });
    outcomes = new OutcomeCounts(rig);
  });

  beforeEach(() => rig.reset());

  after(() => rig.stop());

  /** Takes the connection for so long. */
  async function occupy(forMs: number): Promise<ReturnType<typeof chat>> {
    rig.gpu.mode = { kind: "ok", delayMs: forMs };
    const first = chat(rig.url);
    await waitFor(() => rig.gpu.active === 1, 5_000, "the connection to be taken");
    return first;
  }

  // Mutation: filter/meter/slot.ts, "slot.tokenClockMs = max(slot.tokenClockMs, slot.queuedMs + waited)" -> nothing: this test fails.
  test("time in our own queue makes a first token neither late nor slow", async () => {
    const first = occupy(1_500);
    await waitFor(() => rig.gpu.active === 1, 5_000, "the connection to be taken");
    // With its own 500 ms it is in time; with the queue's 1.5 s it would be late by the limit of 1 s.
    rig.gpu.mode = { kind: "ttft", ms: 500 };
    const queued = await chat(rig.url, { stream: true });
    await first;
    assert.equal(queued.status, 200);
    assert.ok(queued.totalMs > 1_500, "it did not queue");
    assert.equal(queued.headers["x-llm-breaker-backend"], "gpu");
    assert.equal(queued.headers["x-llm-breaker-attempts"], "1");
    assert.deepEqual(await outcomes.news(), { success: 2 });
    assert.deepEqual(rig.transitions(), []);
  });

  test("an attempt that was never sent, since its caller left the queue, is nobody's failure", async () => {
    const first = occupy(1_200);
    await waitFor(() => rig.gpu.active === 1, 5_000, "the connection to be taken");
    await Promise.all([1, 2, 3].map(() => chat(rig.url, { stream: true, leaveAfterMs: 400 })));
    await first;
    assert.equal(rig.gpu.arrivals.length, 1);
    assert.deepEqual(await outcomes.news(), { success: 1, neutral: 3 });
  });
});

test("a mirrored request is no evidence about the backend that gets it", async () => {
  const rig = await startRig({
    service: false,
    patch: (config) => {
      const { route } = routeOf(config);
      Object.assign(route ?? {}, { request_mirror_policies: [{ cluster: "small" }] });
    },
  });
  try {
    rig.small.mode = { kind: "status", status: 500 };
    for (let call = 0; call < 12; call++) {
      const answer = await chat(rig.url, { stream: call % 2 === 0 });
      assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    }
    await waitFor(() => rig.small.arrivals.length === 12, 5_000, "the mirrored requests");
    await waitFor(() => rig.small.active === 0, 5_000, "their end");
    assert.deepEqual(await new OutcomeCounts(rig, "small").news(), {});
    assert.deepEqual(await new OutcomeCounts(rig).news(), { success: 12 });
    // It still is what failing over needs it to be.
    rig.gpu.mode = { kind: "sseError", at: 0 };
    rig.small.mode = { kind: "ok" };
    assert.equal((await chat(rig.url, { stream: true })).headers["x-llm-breaker-backend"], "small");
  } finally {
    await rig.stop();
  }
});

test("Envoy's outlier detection sees an error inside a held 200 stream, and ejects that host", async () => {
  const rig = await startRig({
    service: false,
    policy: neverOpen,
    patch: (config) => {
      const gpu = clusterOf(config, "gpu");
      const outliers = { consecutive_5xx: 2, base_ejection_time: "30s", max_ejection_percent: 50 };
      Object.assign(gpu, { outlier_detection: outliers });
      // A second, healthy host.
      const address = { socket_address: { address: "127.0.0.1", port_value: 9103 } };
      gpu.load_assignment.endpoints[0]?.lb_endpoints.push({ endpoint: { address } });
    },
  });
  try {
    rig.gpu.mode = { kind: "sseError", at: 0 };
    for (let call = 0; call < 8; call++) {
      const answer = await chat(rig.url, { stream: true });
      assert.equal(answer.status, 200);
      assert.match(answer.text, /\[DONE\]/);
      assert.doesNotMatch(answer.text, /error/);
    }
    assert.equal(await rig.envoy.stat("cluster.gpu.outlier_detection.ejections_active"), 1);
    assert.equal(rig.gpu.arrivals.length, 2);
    assert.ok(rig.public_.arrivals.length >= 5, "the healthy host was not used");
  } finally {
    await rig.stop();
  }
});

test("a crowd's retries are not limited by the first tier, however long the second's first token takes", async () => {
  const rig = await startRig({ service: false, policy: neverOpen });
  try {
    rig.gpu.mode = { kind: "sseError", at: 0 };
    rig.small.mode = { kind: "ttft", ms: 700 };
    const answers = await Promise.all(Array.from({ length: 40 }, () => chat(rig.url, { stream: true })));
    for (const { status, headers } of answers) {
      assert.equal(status, 200);
      assert.equal(headers["x-llm-breaker-backend"], "small");
    }
    assert.equal(await rig.envoy.stat("cluster.gpu.upstream_rq_retry_overflow"), 0);
  } finally {
    await rig.stop();
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Lease, leaseMs } from "../../../extproc/peers/lease.js";

const MINUTE_MS = 60_000;

test("whatever probe.firstTokenMax and probe.lease a policy has, there is time to begin a probe", () => {
  for (const probeTimeoutMs of [100, 8000, 90_000, 10 * MINUTE_MS, 60 * MINUTE_MS - 1]) {
    const length = leaseMs(probeTimeoutMs + 1, probeTimeoutMs);
    const candidate = { process: "p", leaseMs: length, probeTimeoutMs };
    const lease = new Lease();
    const ground = { now: 0, self: "a", weight: 1, voters: [], version: 5, candidate };
    lease.step({ ...ground, isDue: true, isProbing: false, mayVote: true });
    assert.ok(lease.isHeld);
    assert.ok(lease.mayProbeMs("p", 5, 0) >= 1000, `firstTokenMax of ${probeTimeoutMs} ms`);
    assert.ok(lease.mayProbeMs("p", 5, 0) + probeTimeoutMs < length);
  }
});

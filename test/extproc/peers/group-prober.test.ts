import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "./support/simulation.js";

const LEASE_MS = 10_000;

/** Four of seven see failures until `untilMs`; stands where a probe is in flight. */
function inMidProbe(
  seed: number,
  untilMs = Number.POSITIVE_INFINITY,
): { simulation: Simulation; at: number } {
  const isFailing = (gateway: string, now: number) =>
    now > 8000 && now < untilMs && Number(gateway.slice(1)) < 4;
  const loss = seed % 2 ? 0.2 : 0;
  const simulation = new Simulation({ seed, gateways: 7, loss, isFailing, probeMs: 7000 });
  for (let ms = 0; ms < 40_000; ms += 10) {
    const prober = simulation.backend.prober;
    if (prober) return { simulation, at: Number(prober.name.slice(1)) };
    simulation.run(10);
  }
  throw new Error("nobody probes");
}

/** Milliseconds until the next probe begins. */
function timeUntilProbe(simulation: Simulation): number {
  const before = simulation.backend.probesSent;
  for (let ms = 0; ms < 60_000; ms += 50) {
    if (simulation.backend.probesSent > before) return ms;
    simulation.run(50);
  }
  return Number.POSITIVE_INFINITY;
}

test("a prober that dies with its service is followed by another when its lease is over", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { simulation, at } = inMidProbe(seed);
    simulation.stopService(at);
    simulation.stopEnvoy(at);
    const ms = timeUntilProbe(simulation);
    assert.ok(ms > LEASE_MS - 3000 && ms <= LEASE_MS + 3000, `seed ${seed}: ${ms} ms`);
    assert.deepEqual(simulation.run(30_000).backend.faults, []);
  }
});

test("a prober whose service dies, or is there again at once, probes alone to the end", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { simulation, at } = inMidProbe(seed);
    simulation.stopService(at);
    if (seed % 3) simulation.run(seed * 100).startService(at);
    simulation.run(40_000);
    assert.deepEqual(simulation.backend.faults, []);
    assert.ok(simulation.backend.probesSent >= 2);
  }
});

test("a voter that was restarted does not vote twice", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { simulation, at } = inMidProbe(seed);
    simulation.stopService(at);
    for (let other = 0; other < 7; other++) {
      if (other === at || other === (at + 1) % 7) continue;
      simulation.stopService(other);
      simulation.startService(other);
    }
    simulation.run(30_000);
    assert.deepEqual(simulation.backend.faults, []);
  }
});

test("one verdict for each opening", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { simulation } = inMidProbe(seed, 40_000);
    const openings = new Set<number>();
    let verdicts = 0;
    let before = "";
    for (let ms = 0; ms < 30_000; ms += 20) {
      const told = simulation.envoys
        .map(({ record }) => record)
        .filter(({ cause }) => cause === "PROBE_FAILED");
      for (const { openings: count } of told) openings.add(count);
      const now = told.map(({ generation }) => generation).join();
      if (now !== before && now.length > before.length) verdicts++;
      before = now;
      simulation.run(20);
    }
    assert.ok(verdicts <= openings.size, `seed ${seed}: ${verdicts} for ${[...openings]}`);
  }
});

test("a gateway that can't probe leaves the lease to another", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const isFailing = (_: string, now: number) => now > 8000 && now < 10_000;
    const simulation = new Simulation({ seed, gateways: 3, isFailing });
    for (const envoy of simulation.envoys.slice(0, 2)) envoy.cannotProbe = true;
    simulation.run(45_000);
    assert.ok(simulation.backend.probesSent > 0, `seed ${seed}`);
    assert.deepEqual(new Set(simulation.run(30_000).states()), new Set(["CLOSED"]));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Group } from "../../../extproc/peers/group.js";
import { readPeerMessage } from "../../../extproc/peers/message-reader.js";
import { MAX_VERSION } from "../../../extproc/peers/version.js";
import type { BackendReport } from "../../../extproc/sync/contract.js";
import { peerMessage } from "./support/messages.js";
import { Simulation } from "./support/simulation.js";

/** What a gateway of a quiet simulation told. */
function someReport(): BackendReport {
  let told: BackendReport | undefined;
  const simulation = new Simulation({ seed: 1, gateways: 1, isFailing: () => false });
  const group = simulation.services[0]?.group;
  assert.ok(group);
  const observe = group.observe.bind(group);
  group.observe = (gateway, reports) => {
    told = reports[0];
    observe(gateway, reports);
  };
  simulation.run(3000);
  assert.ok(told);
  return told;
}

test("whatever members tell, gateways are answered and others can read what is told on", () => {
  const report = someReport();
  const gateway = { process: "p", node: "n", policy: "p" };
  const state = fc.constantFrom<Partial<BackendReport>>(
    {},
    { state: "OPEN", generation: 2, cause: "FAILURE_RATE", isEvidence: true, waitRemainingMs: 1e15 },
    { state: "HALF_OPEN", stage: 1, generation: 4, cause: "PROBE_SUCCEEDED", track: 5 },
    { state: "HALF_OPEN", stage: 0, generation: 3, cause: "WAIT_OVER", track: Number.MAX_SAFE_INTEGER },
  );
  const step = fc.record({ message: peerMessage, state, laterMs: fc.nat({ max: 5000 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let now = 0;
      const group = new Group({ name: "a", now: () => now, isGrouped: true });
      for (const { message, state: told, laterMs } of steps) {
        now += laterMs;
        const backends = message.backends.map((view) => ({ ...view, name: "gpu" }));
        group.receive({ ...message, backends: backends.slice(0, 1) });
        const reported = { ...report, ...told };
        group.observe(gateway, [reported]);
        const { group: advice, move } = group.advise(gateway, reported);
        assert.ok(advice && advice.mayProbeMs >= 0 && advice.rampShare >= 0);
        assert.ok(advice.evidence <= advice.live);
        assert.ok(move === undefined || (move.version > reported.track && move.waitMs >= 0));
        assert.equal(readPeerMessage(group.write()).member, group.id);
        group.view();
      }
    }),
    { numRuns: 300 },
  );
});

test("a gateway that is mistaken about versions leaves room for higher ones", () => {
  const report = someReport();
  let now = 0;
  const group = new Group({ name: "a", now: () => now, isGrouped: true });
  now = 5000;
  const opened = { state: "OPEN" as const, generation: 2, cause: "FAILURE_RATE", isEvidence: true };
  const version = () => group.view().backends[0]?.version ?? 0;
  for (const track of [MAX_VERSION - 1, MAX_VERSION / 2, MAX_VERSION / 2 - 1]) {
    group.observe({ process: `${track}`, node: "n", policy: "p" }, [{ ...report, ...opened, track }]);
    const before = version();
    assert.ok(before > 0);
    group.reset(report.name);
    assert.ok(version() > before, "what comes later holds");
  }
});

test("gateways and backends that are gone are forgotten, in a group and alone", () => {
  const report = someReport();
  for (const isGrouped of [true, false]) {
    let now = 0;
    const group = new Group({ name: "a", now: () => now, isGrouped });
    for (let each = 0; each < 1000; each++) {
      now += 1000;
      group.observe({ process: `p${each}`, node: "n", policy: "p" }, [{ ...report, name: `gpu${each}` }]);
    }
    assert.ok(group.view().backends.length < 50);
    assert.equal(group.reset("gpu999"), true);
  }
});

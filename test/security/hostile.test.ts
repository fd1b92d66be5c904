import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { HostileRig } from "./hostile/run.js";

// `npm run test:hostile` has more of it.

const settings = { seed: 1, cases: 800 };
let hostile: HostileRig;

before(async () => {
  hostile = await HostileRig.start();
});

after(() => hostile?.stop());

test("hostile callers over HTTP/1.1 and HTTP/2 trap nothing, open nothing, and are in nobody's way", async () => {
  const report = await hostile.callers(settings);
  assert.deepEqual(report.findings, []);
  assert.ok(report.answered > settings.cases / 2, `only ${report.answered} of ${report.cases} were answered`);
  assert.ok(report.served > 50, `the good caller asked ${report.served} times`);
});

test("hostile answers trap nothing, and each caller gets one", async () => {
  const report = await hostile.backends(settings);
  assert.deepEqual(report.findings, []);
  assert.ok(report.served > 50, `the good caller asked ${report.served} times`);
});

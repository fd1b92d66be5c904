import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { measureStreamMemory, vmResidentBytes } from "../../../bench/scale/memory.js";
import { scaleResult } from "../../../bench/scale/report.js";
import { Stands } from "../../../bench/scale/stand.js";
import { withBackends, withPatience } from "../../../bench/scale/variants.js";
import { vmBytesPerStream } from "../../../bench/scale/vm-bytes.js";
import { findRepoRoot } from "../repo-root.js";

const modules = join(findRepoRoot(), "build");
const guard = 8 * 2 ** 30;

describe("the cost of many", () => {
  test("an Envoy with 50 backends in its policy holds live streams, and its memory is seen", async () => {
    const config = (file: Parameters<typeof withPatience>[0]) => withBackends(withPatience(file), 50);
    const stands = await Stands.start(modules, [{ name: "full", config, liveStreams: 120 }], () => {});
    try {
      stands.requireLive();
      const [memory] = await measureStreamMemory(stands.all);
      assert.ok(
        memory && memory.vmResident > 0 && memory.vmResident <= memory.vmSize,
        JSON.stringify(memory),
      );
      assert.ok(memory.vmSize < memory.resident, JSON.stringify(memory));
      stands.all[0]?.crowd.close();
      await assert.rejects(async () => {
        for (;;) {
          stands.requireLive();
          await new Promise(setImmediate);
        }
      }, /only \d+ of 120/);
    } finally {
      await stands.stop();
    }
  });

  test("a live stream holds memory in the VM, and the same however many there are", () => {
    const few = vmBytesPerStream(modules, 500);
    const many = vmBytesPerStream(modules, 1000);
    assert.ok(few > 100 && Math.abs(many / few - 1) < 0.1, `${few} and ${many}`);
  });

  test("a VM's memory is what lies before its guard", () => {
    const region = (from: number, size: number, rights: string, resident: number): string =>
      `${from.toString(16)}-${(from + size).toString(16)} ${rights} 00000000 00:00 0\nSize: ${size / 1024} kB\nRss:      ${resident} kB\n`;
    const maps = [
      region(0, 65_536, "rw-p", 12),
      region(65_536, 4096, "---p", 0),
      region(2 ** 20, 65_536, "rw-p", 8),
      region(2 ** 20 + 65_536, guard, "---p", 0),
      region(2 ** 40, 65_536, "r--p", 4),
      region(2 ** 40 + 65_536, guard, "---p", 0),
    ];
    assert.equal(vmResidentBytes(maps.join("")), 8 * 1024);
  });

  test("what costs more with many is told, and what costs 5 µs more is not", () => {
    const cpu = {
      bare: [50],
      full: [60],
      "bare, 2 workers": [50],
      "full, 2 workers": [66],
      "full, 1 buckets": [60],
      "full, 9 buckets": [64],
    };
    const memory = { vmResident: 1000, vmSize: 2000 };
    const { section } = scaleResult({
      scales: { liveStreams: [], buckets: [1, 9], backends: [], workers: [2] },
      cpu: new Map(Object.entries(cpu)),
      idlePercent: new Map(),
      memory: [{ name: "full", liveStreams: 0, resident: 5000, ...memory }],
      vmBytes: 500,
      lostUpdates: 0,
    });
    assert.deepEqual(
      section.rows.map(({ what, figure, target }) => [what, figure.median, target?.met]),
      [
        ["9 window buckets", 1.4, true],
        ["2 workers", 1.6, false],
      ],
    );
    assert.equal(section.behind.length, 1);
  });
});

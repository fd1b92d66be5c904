import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { medianWithin } from "../../../bench/figures.js";
import { measureStreamMemory, vmResidentBytes } from "../../../bench/scale/memory.js";
import { scaleResult } from "../../../bench/scale/report.js";
import { Stands } from "../../../bench/scale/stand.js";
import { withBackends, withPatience } from "../../../bench/scale/variants.js";
import { vmBytesPerStream } from "../../../bench/scale/vm-bytes.js";
import { findRepoRoot } from "../repo-root.js";

const modules = join(findRepoRoot(), "build");
const memory = { liveStreams: 0, resident: 5000, vmResident: 1000, vmSize: 2000 };
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

  test("what costs more with many is told, what costs 5 µs more is not, and what is too unsteady says so", () => {
    const blocks = (us: number, noise = 0) => Array.from({ length: 12 }, (_, at) => us + noise * (at % 3));
    const compared = (figures: Record<string, number[]>) => new Map(Object.entries(figures));
    const cpu = new Map([
      [
        "buckets",
        compared({ bare: blocks(50), "full, 1 buckets": blocks(60), "full, 9 buckets": blocks(64) }),
      ],
      [
        "workers",
        compared({
          ...{ bare: blocks(50), full: blocks(60) },
          ...{ "bare, 2 workers": blocks(50), "full, 2 workers": blocks(66) },
          ...{ "bare, 4 workers": blocks(50), "full, 4 workers": blocks(62, 9) },
        }),
      ],
    ] as const);
    const instructions = compared({ bare: [200], "full, 1 buckets": [300], "full, 9 buckets": [320] });
    const { section } = scaleResult({
      scales: { liveStreams: [], buckets: [1, 9], backends: [], workers: [2, 4] },
      times: { cpu, idlePercent: new Map(), memory: [{ ...memory, name: "full" }], lostUpdates: 0 },
      instructions,
      vmBytes: 500,
    });
    const told = section.rows.map(({ what, figure: { median }, target }) => [what, median, target?.met]);
    assert.deepEqual(told, [
      ["9 window buckets, by instructions", 1.2, false],
      ["9 window buckets, by time", 1.4, true],
      ["2 workers, by time", 1.6, false],
      ["4 workers, by time", 2.1, true],
    ]);
    assert.match(section.rows.at(-1)?.target?.text ?? "", /not shown, too unsteady$/);
    assert.equal(section.behind.length, 2);
  });

  test("where the median of blocks lies is not moved by one odd block, and fewer than six tell nothing", () => {
    const twelve = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99];
    assert.deepEqual(medianWithin(twelve), { median: 6.5, spread: [3, 10] });
    assert.deepEqual(medianWithin([5, 1, 3, 9, 7, 11]), { median: 6, spread: [1, 11] });
    assert.deepEqual(medianWithin([3, 1, 2]), { median: 2, spread: [1, 3] });
  });
});

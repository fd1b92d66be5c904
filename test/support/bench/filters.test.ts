import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Cell } from "../../../bench/cell.js";
import { ratioOfMedians } from "../../../bench/figures.js";
import { measureFilters } from "../../../bench/filters/filters.js";
import { filtersResult } from "../../../bench/filters/report.js";
import { fewestPerBlock, measureInTurns, warnOfFew } from "../../../bench/turns.js";
import { findRepoRoot } from "../repo-root.js";

const silent = (): void => {};

describe("what other filters cost", () => {
  test("is measured, and each breaker among them opens", async () => {
    const { section } = await measureFilters({
      modules: join(findRepoRoot(), "build"),
      requests: 16,
      blocks: 2,
      say: silent,
      only: ["luaBreaker", "assemblyScript"],
    });
    assert.deepEqual(
      section.rows.map(({ what }) => what),
      [
        "Lua that keeps a breaker's window, each worker its own",
        "the record's work in AssemblyScript",
        "minimal.yaml whole: gate and meter",
      ],
    );
    assert.match(section.intro, /Rust was not measured/);
    assert.match(section.behind.join(), /Rust was not measured: it was not asked for/);
  });

  test("a ratio of medians spreads by what is left without any one block", () => {
    const { median, spread } = ratioOfMedians([10, 10, 30], [5, 5, 5]);
    assert.equal(median, 2);
    assert.deepEqual(spread, [2, 4]);
  });

  test("being behind is said: the same work slower than in Rust, the whole dearer than Envoy's own", () => {
    const blocks = { bare: [50], admissionControl: [55], minimal: [90], assemblyScript: [66], rustSdk: [60] };
    const { rows, behind } = filtersResult(new Map(Object.entries(blocks))).section;
    const same = rows.find(({ target }) => target);
    assert.deepEqual([same?.figure.median, same?.target?.met], [1.6, false]);
    assert.deepEqual(behind, [
      "the record's work in AssemblyScript, against in Rust, with the SDK: × 1.6.",
      "minimal.yaml whole, against the record's work in Rust, with the SDK: × 4.",
      "minimal.yaml adds 40 µs to a request, Envoy's admission_control 5.",
    ]);
  });

  test("each block begins with another cell, and measures every one once", async () => {
    const order: string[] = [];
    const cells = ["a", "b", "c"].map((name) => {
      const cell = new Cell(name, process.pid, {
        port: 1,
        request: () => Buffer.alloc(0),
        expect: { status: 200 },
        connections: 0,
      });
      cell.measure = async () => order.push(name);
      return cell;
    });
    await measureInTurns(cells, { requests: 2, blocks: 2, say: silent });
    assert.equal(order.join(""), "abcbca");
  });

  test("so few requests a block that figures mean nothing are told of, in one line", () => {
    const said: string[] = [];
    warnOfFew(fewestPerBlock, (line) => said.push(line));
    assert.equal(said.length, 0);
    warnOfFew(33, (line) => said.push(line));
    assert.match(said.join("\n"), /^33 requests a block: .*noise.*$/);
  });
});

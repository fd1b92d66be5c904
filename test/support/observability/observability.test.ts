import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { findRepoRoot } from "../repo-root.js";
import {
  alerts,
  dashboard,
  folder,
  monitoredPaths,
  type Panel,
  panelQueries,
  scrapedPath,
  variableQueries,
} from "./files.js";

// promtool is Debian's package `prometheus`.

const run = promisify(execFile);
const alertTests = join(findRepoRoot(), "test", "support", "observability", "alerts.test.yaml");

/** Rejects with what promtool says is wrong. */
const promtool = async (...words: string[]): Promise<void> => void (await run("promtool", words));

interface AlertCase {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

function casesOf(alert: string): AlertCase[] {
  const { tests } = parse(readFileSync(alertTests, "utf8")) as { tests: { alert_rule_test: AlertCase[] }[] };
  return tests.flatMap((each) => each.alert_rule_test).filter(({ alertname }) => alertname === alert);
}

describe("the alerts", () => {
  test("fire when they must, and not before or otherwise", () => promtool("test", "rules", alertTests));

  for (const { alert, labels, annotations } of alerts()) {
    test(`${alert} is tried both ways, says what it is, and has its place in the runbook`, () => {
      const fires = casesOf(alert).map((each) => each.exp_alerts.length > 0);
      assert.ok(fires.includes(true) && fires.includes(false), alert);
      assert.match(labels.severity, /^(warning|critical)$/);
      assert.deepEqual(Object.keys(annotations), ["summary", "description", "runbook_url"]);
      const [file = "", anchor] = annotations.runbook_url?.split("#") ?? [];
      const headings = readFileSync(join(findRepoRoot(), file), "utf8").match(/^#+ .*$/gm) ?? [];
      const own = headings.filter((heading) => heading === `### ${alert}`);
      assert.deepEqual([own.length, anchor], [1, alert.toLowerCase()]);
    });
  }
});

describe("what Prometheus scrapes", () => {
  test("is a configuration that it takes, the alerts with it", () =>
    promtool("check", "config", join(folder, "prometheus.yaml")));

  test("is the same by the operator's object", () => {
    const jobs = ["llm-breaker-envoy", "llm-breaker-service"];
    assert.deepEqual(monitoredPaths(), jobs.map(scrapedPath));
  });
});

describe("the dashboard", () => {
  const { panels } = dashboard();

  test("asks in queries that Prometheus understands", async () => {
    const rules = panelQueries().map((expr, index) => ({ record: `panel:${index}`, expr }));
    const place = mkdtempSync(join(tmpdir(), "dashboard-"));
    try {
      const file = join(place, "rules.json");
      writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
      await promtool("check", "rules", file);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("has a source to choose, and nothing of anybody's own", () => {
    const names = dashboard().templating.list.map(({ name }) => name);
    assert.deepEqual(names, ["datasource", "backend", "policy"]);
    assert.equal(variableQueries().length, 2);
    for (const { type, datasource, targets = [] } of panels) {
      if (type === "row") continue;
      for (const { uid = "" } of [datasource ?? {}, ...targets.map((target) => target.datasource)] as {
        uid?: string;
      }[])
        assert.equal(uid, `\${${"datasource"}}`);
    }
    assert.doesNotMatch(JSON.stringify(dashboard()), /https?:|__inputs|"iteration"/);
  });

  test("has a title and a description on each panel, and none on top of another", () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const [index, panel] of panels.entries()) {
      assert.ok(panel.title && (panel.type === "row" || panel.description), panel.title);
      assert.ok(panel.gridPos.x + panel.gridPos.w <= 24, panel.title);
      for (const other of panels.slice(index + 1))
        assert.ok(!overlap(panel, other), `${panel.title}, ${other.title}`);
    }
  });
});

function overlap({ gridPos: one }: Panel, { gridPos: other }: Panel): boolean {
  const isBeside = one.x + one.w <= other.x || other.x + other.w <= one.x;
  return !isBeside && one.y < other.y + other.h && other.y < one.y + one.h;
}

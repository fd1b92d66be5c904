import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe-core finds to be serious or critical, one line each. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // By the browser's debugger, which no policy of the page's holds back.
  await page.evaluate(SOURCE);
  const violations = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as Violation[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes: [first] }) =>
        `${id}: ${first?.html.slice(0, 200)} ${first?.failureSummary.slice(0, 300)}`,
    );
}

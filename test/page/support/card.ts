import type { Locator, Page } from "playwright-core";
import type { Standing } from "../../../extproc/page/browser/standing.js";

const PATIENCE_MS = 60_000;

export function cardOf(page: Page, name: string): Locator {
  return page.locator(`[data-backend="${name}"]`).first();
}

/** Waits until a backend's card says one of these. */
export async function untilStands(page: Page, name: string, ...standings: Standing[]): Promise<void> {
  const wanted = standings.map((standing) => `[data-backend="${name}"][data-standing="${standing}"]`);
  await page.locator(wanted.join(", ")).first().waitFor({ timeout: PATIENCE_MS });
}

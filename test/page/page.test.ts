import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { loadPage } from "../../extproc/page/load-page.js";
import { ControlRig, report, transition } from "../extproc/support/control.js";
import { waitFor } from "../support/wait-for.js";
import { seriousFaults } from "./support/audit.js";
import { untilStands } from "./support/card.js";
import { openPage, startChromium } from "./support/chromium.js";

// The real control server, and gateways that the test speaks for, in a real Chromium.

const TOKEN = "0123456789abcdef0123";
const MAX_BYTES = 150_000;
const MAX_PAINT_MS = 100;
const PHONE = { width: 360, height: 780 };
const DESKTOP = { width: 1440, height: 900 };

const rig = new ControlRig();
rig.page = loadPage();
let browser: Browser;
let origin: string;
let guarded: string;

before(async () => {
  const tokenFile = join(mkdtempSync(join(tmpdir(), "llm-breaker-page-")), "tokens");
  writeFileSync(tokenFile, `ada:${TOKEN}\n`);
  origin = `http://127.0.0.1:${await rig.serve()}`;
  guarded = `http://127.0.0.1:${await rig.serve({ tokenFile })}`;
  tell();
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  rig.close();
});

function tell(): void {
  const figures = { waitRemainingMs: 4000, stateAgeMs: 1000, cause: "FAILURE_RATE" };
  const latency = {
    samples: 40,
    p50Ms: 300,
    p99Ms: 900,
    judgedPercentile: 95,
    judgedMs: 800,
    baselineMs: 400,
  };
  const gpu = report("gpu", { state: "OPEN", transitions: [transition()], latency, ...figures });
  rig.sync([gpu, report("small", { latency }), report("public")], {
    chains: [{ name: "chat", tiers: ["gpu", "small", "public"] }],
  });
}

test(`all of it is less than ${MAX_BYTES / 1000} kB, unpacked`, () => {
  const bytes = rig.page.reduce((sum, { body }) => sum + body.length, 0);
  assert.ok(rig.page.length >= 3, "page, script and style sheet are built");
  assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
});

test(`first paint comes within ${MAX_PAINT_MS} ms on loopback, by the median of five`, async (context) => {
  const { page } = await openPage(browser, origin);
  await page.goto(origin);
  const rounds: number[][] = [];
  const median = (round: number[]) => round[2] ?? Number.NaN;
  // A machine that is busy with something else paints late in one round, not in all.
  while (rounds.length < 3 && !rounds.some((round) => median(round) < MAX_PAINT_MS)) {
    const paints: number[] = [];
    for (let load = 0; load < 5; load++) paints.push(await paintOf(page));
    rounds.push(paints.sort((a, b) => a - b));
  }
  const told = rounds.map((round) => round.map(Math.round).join(", ")).join("; ");
  context.diagnostic(`first paints after ${told} ms`);
  assert.ok(median(rounds.at(-1) ?? []) < MAX_PAINT_MS, `first paints after ${told} ms`);
  await page.context().close();
});

async function paintOf(page: Page): Promise<number> {
  await page.reload();
  await untilStands(page, "gpu", "open");
  return Number(await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime'));
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const [where, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    test(`axe-core finds nothing serious: ${colorScheme}, ${where}`, async () => {
      const watched = await openPage(browser, origin, { colorScheme, viewport });
      const { page } = watched;
      await page.goto(origin);
      await untilStands(page, "gpu", "open");
      for (const summary of await page.locator("summary").all()) await summary.click();
      assert.deepEqual(await seriousFaults(page), []);
      if (viewport === PHONE) {
        await page.getByRole("button", { name: "Control … gpu" }).click();
        assert.deepEqual(await seriousFaults(page), []);
      }
      assert.deepEqual([...watched.errors, ...watched.outside], []);
      await page.context().close();
    });
  }
}

/** Presses Tab until the focus is there, as somebody without a mouse does. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    if (String(await page.evaluate("document.activeElement.textContent")).startsWith(text)) return;
  }
  assert.fail(`no Tab leads to "${text}"`);
}

test("an order is given by the keyboard alone, and Esc gives none", async () => {
  const { page, errors } = await openPage(browser, origin);
  await page.goto(origin);
  await untilStands(page, "small", "closed");
  await tabTo(page, "Control … small");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  assert.equal(rig.overrides.list().length, 0);
  assert.match(String(await page.evaluate("document.activeElement.textContent")), /^Control … small/);

  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Callers of chat are served by public").waitFor();
  await page.keyboard.press("Tab");
  await tabTo(page, "1h");
  await page.keyboard.press("Enter");
  await tabTo(page, "Open small for 1h");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("Say why").waitFor();
  assert.equal(rig.overrides.list().length, 0);
  await dialog.getByLabel("Why").focus();
  await page.keyboard.type("driver update");
  await page.keyboard.down("Enter");
  await waitFor(async () => rig.overrides.list().length > 0, 5000, "the order");
  const [word] = rig.overrides.list();
  assert.deepEqual(
    [word?.backend, word?.mode, word?.why, word?.who],
    ["small", "forcedOpen", "driver update", "unknown"],
  );
  await page.getByRole("status").getByText("small is forced open for 1h").waitFor();
  for (let held = 0; held < 3; held++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  assert.equal(await dialog.count(), 0, "an Enter that is held on opens no other dialog");
  rig.overrides.withdraw("small", "test", "");
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("asks for a token, tells a wrong one, and signs with the right one's name", async () => {
  const { page, errors } = await openPage(browser, guarded);
  await page.goto(guarded);
  const token = page.getByLabel("Token");
  await token.fill("wrong-wrong-wrong-wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("does not know this token").waitFor();
  assert.deepEqual(await seriousFaults(page), []);
  await token.fill(TOKEN);
  await page.keyboard.press("Enter");
  await untilStands(page, "gpu", "open");
  await page.getByRole("button", { name: "Control … public" }).click();
  await page.getByLabel("Why").fill("quota");
  await page.getByRole("button", { name: "Open public for 15m" }).click();
  await waitFor(async () => rig.overrides.find("public") !== undefined, 5000, "the order");
  assert.equal(rig.overrides.find("public")?.who, "ada");
  rig.overrides.withdraw("public", "test", "");
  // It is gone with its tab, and others have never had it.
  const other = await openPage(browser, guarded);
  await other.page.goto(guarded);
  await other.page.getByLabel("Token").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await token.waitFor();
  // Chromium writes each 401 there itself.
  assert.deepEqual(
    errors.filter((error) => !error.includes("401")),
    [],
  );
});

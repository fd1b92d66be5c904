import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Browser } from "playwright-core";
import { waitFor } from "../support/wait-for.js";
import { seriousFaults } from "./support/audit.js";
import { cardOf, untilStands } from "./support/card.js";
import { openPage, startChromium } from "./support/chromium.js";
import { FakeService, type Told } from "./support/fake-service.js";
import { backend, CHAINS, gateway, openBackend, transition, trends } from "./support/fixtures.js";

// States that a real service is seldom in.

const PHONE = { width: 360, height: 780 };
const WALL = { width: 3840, height: 2160 };

const told: Told = { backends: [], entries: [], chains: undefined, trends: undefined };
const service = new FakeService(told);
let browser: Browser;

before(async () => {
  await service.start();
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await service.stop();
});
beforeEach(() => {
  service.orders.length = 0;
  service.answer = { status: 200, body: {} };
  Object.assign(told, {
    backends: [openBackend("gpu"), backend("small"), backend("public")],
    entries: [transition(1)],
    chains: CHAINS,
    trends: trends(["gpu", "small", "public"]),
  } satisfies Told);
});

test("a lost service is told, with the age of what is shown, and forgotten when it is back", async () => {
  const { page } = await openPage(browser, service.origin);
  await page.goto(service.origin);
  await untilStands(page, "gpu", "open");
  await service.stop();
  const banner = page.locator(".lost");
  await banner.getByText("The service is lost").waitFor();
  await banner.getByText(/as it was at \d\d:\d\d:\d\d, [3-9] s ago/).waitFor();
  await cardOf(page, "gpu").getByText("was Open").waitFor();
  await page.getByRole("heading", { name: "Last known: gpu is Open" }).waitFor();
  assert.equal(await page.getByText("a probe in").first().isVisible(), false);
  assert.equal(await page.title(), "? llm-breaker");
  told.backends = [backend("gpu"), backend("small"), backend("public")];
  await service.start();
  await banner.waitFor({ state: "hidden" });
  await untilStands(page, "gpu", "closed");
  await page.getByRole("heading", { name: "All 3 backends serve", exact: true }).waitFor();
  await page.context().close();
});

test("transitions come as they happen, and are said aloud", async () => {
  const { page } = await openPage(browser, service.origin);
  await page.goto(service.origin);
  await waitFor(async () => service.listeners > 0, 10_000, "a reader of the event stream");
  service.push(transition(2, { backend: "small", cause: "ENGINE_FATAL", at: new Date().toISOString() }));
  await page.locator(".changes").getByText("the engine told it is dead").waitFor({ timeout: 1000 });
  await page.getByRole("status").getByText("small is Open: the engine told it is dead").waitFor();
  await page.context().close();
});

test("without chains and trends it shows what there is; without gateways it says what to look for", async () => {
  Object.assign(told, { chains: undefined, trends: undefined });
  const { page } = await openPage(browser, service.origin);
  await page.goto(service.origin);
  await page.getByRole("heading", { name: "Backends" }).waitFor();
  assert.equal(await page.locator(".card").count(), 3);
  told.backends = [];
  await page.getByRole("heading", { name: "No gateway reports here" }).waitFor();
  await page.getByText("service.cluster").waitFor();
  await page.context().close();
});

test("what others wrote is text, and nothing but text", async () => {
  const attack = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
  const override = {
    backend: attack,
    mode: "forcedOpen",
    remainingMs: 60_000,
    who: attack,
    why: attack,
  } as const;
  told.backends = [backend(attack, { mode: "forcedOpen", node: attack }, { override })];
  told.entries = [
    {
      id: 1,
      at: new Date().toISOString(),
      backend: attack,
      kind: "operator",
      action: "open",
      who: attack,
      why: attack,
    },
    transition(2, { backend: attack, cause: attack }),
  ];
  told.chains = { chains: [{ policy: attack, name: attack, tiers: [attack] }] };
  const { page, errors, outside } = await openPage(browser, service.origin);
  await page.goto(service.origin);
  await page.locator(".card").getByRole("heading", { name: attack }).waitFor();
  await page.locator(".card summary").last().click();
  await page.getByRole("button", { name: "Control …" }).first().click();
  await page.getByRole("dialog").waitFor();
  assert.equal(await page.locator("img, script:not([src])").count(), 0);
  assert.doesNotMatch(await page.title(), /^taken/);
  assert.deepEqual([...errors, ...outside], []);
  await page.context().close();
});

const LARGEST = 2 ** 32 - 1;
/** The most that a gateway can tell. */
const MOST = {
  latency: {
    samples: LARGEST,
    p50Ms: LARGEST,
    p99Ms: LARGEST,
    judgedPercentile: 99,
    judgedMs: LARGEST,
    baselineMs: LARGEST,
  },
  load: { kvCacheUse: 1, waiting: LARGEST },
};

test("forty backends with long names fit on a phone and on a wall", async () => {
  const names = Array.from({ length: 40 }, (_, index) =>
    `${"backend-of-a-long-name".repeat(3)}-${index}`.slice(-63),
  );
  told.backends = names.map((name, index) => {
    const others = { gateways: [gateway({ state: "OPEN" }), gateway({ process: "b" })] };
    return index % 9 === 0 ? openBackend(name, others) : backend(name, {}, MOST);
  });
  told.chains = { chains: [{ policy: "demo", name: "a-chain-of-a-long-name".repeat(3), tiers: names }] };
  told.trends = trends(names);
  told.entries = names.map((name, index) => transition(index + 1, { backend: name }));
  for (const viewport of [PHONE, WALL]) {
    const { page, errors } = await openPage(browser, service.origin, { viewport });
    await page.goto(`${service.origin}/${viewport === WALL ? "?wall" : ""}`);
    await page.locator(".card").nth(39).waitFor();
    await page.getByText("Gateways disagree: 1 of 2 refuse").first().waitFor();
    const width = await page.evaluate("document.documentElement.scrollWidth");
    assert.ok(Number(width) <= viewport.width, `${width} wide on ${viewport.width}`);
    assert.deepEqual(errors, []);
    await page.context().close();
  }
});

test("a refused order is told with the service's own words, and the dialog stays", async () => {
  service.answer = { status: 400, body: { error: { message: "who is too long", field: "who" } } };
  const { page } = await openPage(browser, service.origin);
  await page.goto(service.origin);
  await page.getByRole("button", { name: "Control … gpu" }).click();
  await page.getByLabel("Reset").check();
  await page.getByText("without a probe and without canaries").waitFor();
  await page.getByLabel("Why").fill("replaced the node");
  await page.getByRole("button", { name: "Reset gpu" }).click();
  await page.getByRole("alert").getByText("Refused: who is too long.").waitFor();
  const [order] = service.orders;
  assert.deepEqual(
    [order?.method, order?.path, order?.body],
    ["POST", "/v1/backends/gpu/reset", '{"why":"replaced the node"}'],
  );
  assert.deepEqual(await seriousFaults(page), []);
  await page.context().close();
});

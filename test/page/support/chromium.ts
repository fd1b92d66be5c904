import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** It asks nobody but the page under test. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @throws with how to install one */
export function findChromium(): string {
  const place = [process.env.CHROMIUM_BIN ?? "", ...PLACES].find((path) => path !== "" && existsSync(path));
  if (place !== undefined) return place;
  throw new Error(
    "the live page's tests need a Chromium: apt-get install chromium, or set CHROMIUM_BIN to yours",
  );
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: FLAGS });
}

export interface Watched {
  readonly page: Page;
  /** Errors of its console, and what it threw. */
  readonly errors: string[];
  /** What it asked of anybody but `origin`. */
  readonly outside: string[];
}

/** A page that is watched for what it must never do. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  const outside: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) outside.push(url);
  });
  return { page, errors, outside };
}

import type { Logger } from "pino";
import type { Endpoint } from "./endpoint.js";
import type { EngineFigures } from "./engine-metrics.js";
import type { Page } from "./page-reader.js";
import { SampleWindow } from "./sample-window.js";

/** A page that comes and goes is told about this often at most. */
const TELL_AGAIN_AFTER_MS = 10_000;

/** How a page does, as the log was told. */
type Told = "nothing yet" | "unreadable" | "all" | "no figure" | "no KV-cache use" | "no waiting requests";

/** One engine's page and what it told lately. */
export class Engine {
  readonly window = new SampleWindow();
  private isAsked = false;
  private isClosed = false;
  private told: Told = "nothing yet";
  private toldAtMs = Number.NEGATIVE_INFINITY;
  private hasToldKvCacheUse = false;

  constructor(
    private endpoint: Endpoint,
    private page: Page,
    readonly slot: number,
    private readonly log: Pick<Logger, "info" | "warn">,
    private readonly now: () => number,
  ) {}

  /** The engine is where it was: same addresses under the same URL. */
  isAt({ url, addresses }: Endpoint): boolean {
    const own = this.endpoint;
    return own.url.href === url.href && spell(own) === spell({ url, addresses, name: own.name });
  }

  moveTo(endpoint: Endpoint, page: Page): void {
    this.page.close();
    this.endpoint = endpoint;
    this.page = page;
  }

  close(): void {
    this.isClosed = true;
    this.page.close();
  }

  /** Asks for the page unless it is being asked for. Never rejects. */
  async ask(timeLimitMs: number, findToken: () => Promise<string | undefined>): Promise<void> {
    if (this.isAsked) return;
    this.isAsked = true;
    const { page } = this;
    try {
      const figures = await page.read(timeLimitMs, await findToken());
      if (!this.isGone(page)) this.take(figures);
    } catch (cause) {
      if (!this.isGone(page)) this.tell("unreadable", cause as Error);
    } finally {
      this.isAsked = false;
    }
  }

  private isGone(page: Page): boolean {
    return this.isClosed || page !== this.page;
  }

  private take(figures: EngineFigures): void {
    this.window.add(this.now(), figures);
    const { kvCacheUse, waiting } = figures;
    const lacksUse = kvCacheUse === undefined;
    if (waiting !== undefined) this.tell(lacksUse ? "no KV-cache use" : "all");
    else this.tell(lacksUse ? "no figure" : "no waiting requests");
    this.hasToldKvCacheUse ||= !lacksUse;
  }

  private tell(told: Told, cause?: Error): void {
    if (told === this.told || this.now() - this.toldAtMs < TELL_AGAIN_AFTER_MS) return;
    const isFirst = this.told === "nothing yet";
    this.told = told;
    if (told === "all" && isFirst) return;
    this.toldAtMs = this.now();
    // Errors of the HTTP parser hold the bytes that they are about.
    const facts = { endpoint: this.endpoint.name, ...(cause && { problem: cause.message }) };
    if (told === "unreadable") this.log.warn(facts, "metrics can't be read, what they tell is unknown");
    else if (told === "all") this.log.info(facts, "metrics tell everything again");
    else this.log.warn(facts, `metrics tell ${told}${this.suffix(told)}: unknown, no decision is made by it`);
  }

  private suffix(told: Told): string {
    const lacksUse = told === "no KV-cache use" || told === "no figure";
    return lacksUse && this.hasToldKvCacheUse ? " any more" : " that we know";
  }
}

function spell({ addresses }: Endpoint): string {
  return addresses
    .map(({ address }) => address)
    .sort()
    .join();
}

import { clearTimeout, setTimeout } from "node:timers";
import type { Arrival } from "../fleet/arrivals.js";
import type { CallRecord } from "../load/caller.js";
import type { Load } from "../load.js";
import type { Primary } from "./primary.js";
import type { Colour, Screen } from "./screen.js";
import type { Transition } from "./transitions.js";

const REFRESH_MS = 250;
const COLOURS: Readonly<Record<Transition["to"], Colour>> = {
  CLOSED: "green",
  OPEN: "red",
  HALF_OPEN: "yellow",
};

/** Tells what happens as it happens: transitions, each probe, each canary, and a live line with the counts. */
export class Narrator {
  readonly #screen: Screen;
  readonly #primary: Primary;
  readonly #load: Load;
  #state: Transition["to"] = "CLOSED";
  #inRamp = false;
  #canaries = 0;
  #failures = 0;
  #told = 0;
  #toldRecords = 0;
  readonly #waiting: Arrival[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(screen: Screen, primary: Primary, load: Load) {
    this.#screen = screen;
    this.#primary = primary;
    this.#load = load;
  }

  start(): void {
    this.#tell();
    this.#timer = setTimeout(() => this.start(), REFRESH_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#tell();
    this.#screen.live("");
  }

  transition({ backend, to, cause }: Transition): void {
    this.#tell();
    this.#screen.event(to.replace("_", "-"), `${backend}: ${inWords(cause)}`, COLOURS[to]);
    if (backend !== this.#primary.name) return;
    this.#state = to;
    this.#inRamp = to === "HALF_OPEN" && cause !== "WAIT_OVER";
  }

  #tell(): void {
    const arrivals = this.#primary.arrivals.list();
    // The log drops its oldest entries when full, so what is new is counted from its end.
    const fresh = Math.min(arrivals.length, this.#primary.arrivals.total - this.#told);
    this.#told = this.#primary.arrivals.total;
    for (const arrival of fresh === 0 ? [] : arrivals.slice(-fresh)) {
      if (arrival.probe || this.#inRamp) this.#waiting.push(arrival);
    }
    while (this.#waiting[0] !== undefined && this.#waiting[0].outcome !== "running") {
      this.#tellEnd(this.#waiting.shift() as Arrival);
    }
    for (const record of this.#load.records.slice(this.#toldRecords)) this.#tellCaller(record);
    this.#toldRecords = this.#load.records.length;
    this.#screen.live(this.#liveText());
  }

  #tellEnd(arrival: Arrival): void {
    const took = `${arrival.outcome} after ${Math.round(arrival.endMs - arrival.atMs)} ms`;
    if (arrival.probe) this.#screen.event("probe", `${arrival.backend}: ${took}`, "cyan");
    else
      this.#screen.event(
        "canary",
        `no. ${++this.#canaries}, ${arrival.promptTokens} prompt tokens: ${took}`,
        "cyan",
      );
  }

  #tellCaller(record: CallRecord): void {
    if (record.verdict === "ok" || ++this.#failures > 10) return;
    this.#screen.event(
      "caller",
      `${record.id} saw a ${record.verdict}: ${record.detail.slice(0, 120)}`,
      "red",
    );
  }

  #liveText(): string {
    const { records, inFlight } = this.#load;
    const ok = records.filter((record) => record.verdict === "ok").length;
    const recent = tallyBackends(records.slice(-50));
    const failed = records.length - ok;
    return `  ${this.#state}  complete ${ok}  failed ${failed}  in flight ${inFlight}  lately ${recent}`;
  }
}

function tallyBackends(records: readonly CallRecord[]): string {
  const counts = new Map<string, number>();
  for (const { backend } of records) counts.set(backend, (counts.get(backend) ?? 0) + 1);
  return [...counts].map(([backend, count]) => `${backend || "none"} ${count}`).join(", ");
}

/** ENGINE_FATAL → "engine fatal". */
function inWords(cause: string): string {
  return cause.toLowerCase().replaceAll("_", " ");
}

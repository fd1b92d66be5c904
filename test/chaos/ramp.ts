import type { Rig, Transition } from "../e2e/support/rig.js";
import { send } from "../support/client.js";
import type { Upstream } from "../support/upstream.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { maxCanaries } from "./rigs.js";

const stepTimeoutMs = 10_000;
const canaryMs = 300;
const askerHeader = "x-chaos-asker";

/** One backend that is brought to half-open and back, with the chain that leads to it. */
export class Ramp {
  #asked = 0;

  constructor(
    private readonly rig: Rig,
    readonly chain: string,
    private readonly alias: string,
    /** The backend's fake server, which other backends of the lane share. */
    private readonly upstream: Upstream,
  ) {}

  get #last(): Transition | undefined {
    const line = this.rig.envoy.log
      .matching(/llm\.breaker transition \{/)
      .findLast((each) => each.includes(`"backend":"${this.alias}"`));
    if (line === undefined) return undefined;
    return JSON.parse(line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1)) as Transition;
  }

  get #isClosed(): boolean {
    return (this.#last?.to ?? "CLOSED") === "CLOSED";
  }

  /** Opens it by a dead engine's words. */
  async open(): Promise<void> {
    await this.#ask({ kind: "sseError", at: 0 });
    await waitFor(() => !this.#isClosed, stepTimeoutMs, `${this.alias} open`);
  }

  /** Waits until canaries are let through, or it has closed already. */
  async whenRamping(): Promise<void> {
    const isRamping = (): boolean => this.#isClosed || this.#last?.cause === "PROBE_SUCCEEDED";
    await waitFor(isRamping, stepTimeoutMs, `canaries of ${this.alias}`);
  }

  /**
   * Brings it back to Closed and returns what was wrong. As many canaries as the stage allows must be in flight at once on the
   * way, or an ended attempt has kept its permit.
   */
  // Mutation: filter/breaker/breaker.ts, no freePermit in onOutcome and releasePermit: every half-open combination fails.
  async recover(): Promise<string[]> {
    await this.whenRamping();
    if (this.#isClosed) return [];
    const callers = Array.from({ length: 3 * maxCanaries }, () =>
      this.#ask({ kind: "ok", delayMs: canaryMs }),
    );
    const atOnce = this.#mostAtOnce(await Promise.all(callers));
    const findings =
      atOnce === maxCanaries ? [] : [`${atOnce} canaries at once afterwards, ${maxCanaries} allowed`];
    const deadlineMs = performance.now() + stepTimeoutMs;
    while (!this.#isClosed) {
      if (performance.now() > deadlineMs) return [...findings, `${this.alias} did not close afterwards`];
      await this.#ask({ kind: "ok" });
    }
    return findings;
  }

  /** A call whose way is `mode` at whatever tier it reaches. Returns its name. */
  async #ask(mode: Mode): Promise<string> {
    const asker = `${this.alias}.${++this.#asked}`;
    const headers = { "x-upstream-mode": JSON.stringify(mode), [askerHeader]: asker };
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
    await send(`${this.rig.url}/${this.chain}/v1/chat/completions`, { headers, body });
    return asker;
  }

  #mostAtOnce(askers: readonly string[]): number {
    const canaries = this.upstream.arrivals.filter(({ headers }) =>
      askers.includes(headers[askerHeader] ?? ""),
    );
    const atOnce = canaries.map(
      ({ atMs }) =>
        canaries.filter((other) => other.atMs <= atMs && atMs < (other.endedAtMs ?? Infinity)).length,
    );
    return Math.max(0, ...atOnce);
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../demo/clock.js";
import { chat } from "../support/client.js";
import type { Act, Fault, Position, Round, VictimName } from "./plan.js";
import type { System } from "./system.js";
import { TRAP_HEADER } from "./trap-module.js";

/** A fault that was played. Times are monotonic. */
export interface Strike {
  readonly act: Act;
  readonly victim: VictimName | Position;
  readonly atMs: number;
  /** When it was dead, stopped, or had trapped. */
  readonly doneMs: number;
  /** When what was killed or stopped was there again. */
  endMs: number;
  /** The credential of the request that made a VM trap. */
  readonly credential?: string;
}

export class Strikes {
  readonly all: Strike[] = [];
  private traps = 0;

  constructor(private readonly system: System) {}

  async play(round: Round, whileItLasts: (strikes: readonly Strike[]) => Promise<void>): Promise<Strike[]> {
    const struck: Strike[] = [];
    for (const [at, fault] of round.faults.entries()) {
      if (at > 0) await sleep(round.gapMs);
      struck.push(await this.strike(fault));
    }
    const until = monotonicMs() + round.lastMs;
    await whileItLasts(struck);
    await sleep(Math.max(0, until - monotonicMs()));
    await Promise.all(struck.map((strike) => this.end(strike)));
    return struck;
  }

  private async strike(fault: Fault): Promise<Strike> {
    const strike = fault.act === "trap" ? await this.trap(fault.victim as Position) : await this.hit(fault);
    this.all.push(strike);
    return strike;
  }

  private async hit({ act, victim }: Fault): Promise<Strike> {
    const struck = this.system.victim(victim as VictimName);
    const { traffic } = this.system.gateways.b;
    // Callers turn to another gateway when one is gone; who waits for a stopped one can't know.
    if (act === "kill" && victim === "gateway-b") traffic.pause();
    const atMs = monotonicMs();
    if (act === "kill") await struck.kill();
    else struck.freeze();
    return { act, victim, atMs, doneMs: monotonicMs(), endMs: Number.POSITIVE_INFINITY };
  }

  private async trap(victim: Position): Promise<Strike> {
    const credential = `trap-${this.traps++}`;
    const { clients } = this.system.gateways.a.ports;
    const headers = { authorization: `Bearer ${credential}`, [TRAP_HEADER]: victim };
    const atMs = monotonicMs();
    const { status } = await chat(`http://127.0.0.1:${clients}`, { headers, timeoutMs: 10_000 });
    if (status !== 503 && status !== 0) throw new Error(`the VM of ${victim} did not trap: ${status}`);
    const doneMs = monotonicMs();
    return { act: "trap", victim, atMs, doneMs, endMs: doneMs, credential };
  }

  private async end(strike: Strike): Promise<void> {
    if (strike.act === "trap") return;
    await this.system.victim(strike.victim as VictimName).revive();
    strike.endMs = monotonicMs();
    if (strike.victim !== "gateway-b") return;
    const { b } = this.system.gateways;
    if (strike.act === "kill") b.readLog();
    b.traffic.start();
  }
}

import { fileURLToPath } from "node:url";
import type { Arrival } from "../../../demo/fleet/arrivals.js";
import type { FaultRequest } from "../../../demo/fleet/faults.js";
import { Child } from "../../../test/support/child.js";
import { send } from "../../../test/support/client.js";
import { freePort } from "../../../test/support/ports.js";
import { fallbackName, nodeName, type WorldSettings } from "./settings.js";

const readyTimeoutMs = 20_000;

/** What reached the engines, in the order of arrival. */
export interface Seen {
  readonly nodes: readonly (readonly Arrival[])[];
  readonly fallback: readonly Arrival[];
}

/** One racer's engines: nobody else's requests reach them. */
export class World {
  readonly nodes: readonly number[];
  readonly fallback: number;
  readonly #admin: string;
  readonly #child: Child;

  private constructor(settings: WorldSettings, child: Child) {
    this.nodes = settings.nodes;
    this.fallback = settings.fallback;
    this.#admin = `http://127.0.0.1:${settings.admin}`;
    this.#child = child;
  }

  static async start(nodeCount: number, seed: number): Promise<World> {
    const nodes: number[] = [];
    for (let index = 0; index < nodeCount; index++) nodes.push(await freePort());
    const settings = { nodes, fallback: await freePort(), admin: await freePort(), seed };
    const script = fileURLToPath(new URL("world-main.js", import.meta.url));
    const child = new Child({
      name: "a race's engines",
      program: process.execPath,
      args: ["--enable-source-maps", script, JSON.stringify(settings)],
      cwd: process.cwd(),
    });
    const world = new World(settings, child);
    await child.whenReady(async () => (await send(`${world.#admin}/faults`)).status === 200, readyTimeoutMs);
    return world;
  }

  async beginFault(node: number, fault: FaultRequest): Promise<void> {
    await this.#order("POST", { backend: nodeName(node), ...fault });
  }

  async endFault(node: number): Promise<void> {
    await this.#order("DELETE", { backend: nodeName(node) });
  }

  async seen(): Promise<Seen> {
    const logs = JSON.parse((await send(`${this.#admin}/requests`)).text) as Record<
      string,
      { requests: Arrival[] }
    >;
    const requests = (name: string): Arrival[] => logs[name]?.requests ?? [];
    return {
      nodes: this.nodes.map((_, index) => requests(nodeName(index))),
      fallback: requests(fallbackName),
    };
  }

  async stop(): Promise<void> {
    await this.#child.stop();
  }

  async #order(method: string, body: object): Promise<void> {
    const answer = await send(`${this.#admin}/faults`, { method, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`the engines refuse a fault: ${answer.text}`);
  }
}

import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EnvoySettings, type RunningEnvoy, startEnvoy } from "../test/support/envoy.js";
import type { EnvoyConfig } from "../test/support/envoy-config.js";

/** Ports of the shipped files on which model servers and our own service listen; here one server plays them all. */
const upstreamPorts = [9101, 9102, 9103, 9003];

export interface FleetEnvoy extends Pick<EnvoySettings, "concurrency" | "under" | "readyTimeoutMs"> {
  readonly upstreamPort?: number;
}

/** The Envoys of a measurement, one for each configuration. */
export class Fleet {
  /** Copies of the filter's modules, which no build replaces while the bench runs. */
  readonly folder: string;
  readonly #upstreamPort: number;
  readonly #envoys: RunningEnvoy[] = [];

  constructor(modules: string, upstreamPort: number) {
    this.#upstreamPort = upstreamPort;
    this.folder = mkdtempSync(join(tmpdir(), "llm-breaker-bench-"));
    for (const name of readdirSync(modules)) {
      if (name.endsWith(".wasm")) copyFileSync(join(modules, name), join(this.folder, name));
    }
  }

  /** By default with one worker, and with the fleet's upstream behind it; `more`: another way to start it. */
  async addEnvoy(
    config: EnvoyConfig,
    { concurrency = 1, upstreamPort = this.#upstreamPort, ...more }: FleetEnvoy = {},
  ): Promise<RunningEnvoy> {
    const ports = Object.fromEntries(upstreamPorts.map((port) => [port, upstreamPort]));
    const envoy = await startEnvoy({ config, ports, concurrency, logLevel: "error", ...more });
    this.#envoys.push(envoy);
    return envoy;
  }

  async stop(): Promise<void> {
    for (const envoy of this.#envoys) await envoy.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningEnvoy, startEnvoy } from "../../test/support/envoy.js";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { freePort } from "../../test/support/ports.js";
import { Upstream } from "../load/upstream.js";

/** Ports of the shipped files on which model servers and our own service listen; here one server plays them all. */
const upstreamPorts = [9101, 9102, 9103, 9003];

/** The processes of a measurement: an Envoy for each configuration. */
export class Fleet {
  readonly moduleFile: string;
  readonly #folder: string;
  readonly #upstreamPort: number;
  readonly upstream: Upstream;
  readonly #envoys: RunningEnvoy[] = [];

  private constructor(folder: string, moduleFile: string, upstreamPort: number, upstream: Upstream) {
    this.#folder = folder;
    this.moduleFile = moduleFile;
    this.#upstreamPort = upstreamPort;
    this.upstream = upstream;
  }

  static async start(moduleFile: string): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), "llm-breaker-bench-"));
    const copy = join(folder, "llm-breaker.wasm");
    copyFileSync(moduleFile, copy);
    const port = await freePort();
    return new Fleet(folder, copy, port, await Upstream.listen(port));
  }

  async addEnvoy(config: EnvoyConfig): Promise<RunningEnvoy> {
    const ports = Object.fromEntries(upstreamPorts.map((port) => [port, this.#upstreamPort]));
    const envoy = await startEnvoy({ config, ports, concurrency: 1, logLevel: "error" });
    this.#envoys.push(envoy);
    return envoy;
  }

  async stop(): Promise<void> {
    for (const envoy of this.#envoys) await envoy.stop();
    this.upstream.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

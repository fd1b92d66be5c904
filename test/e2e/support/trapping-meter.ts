import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { completionJson } from "../../support/completion.js";
import { findRepoRoot } from "../../support/repo-root.js";
import type { Mode } from "../../support/upstream-mode.js";
import { clusterOf, protocolOf, type ShippedConfig } from "./shipped-config.js";
import { endedByTrailers, keepTrailers } from "./trailers.js";
import { writeTrappingModule } from "./trapping-module.js";

interface WasmConfig {
  config: { vm_config: { code: unknown } };
}

/** What kills the VM of the meter that judges it. */
export const deadlyAnswer: Mode = endedByTrailers("application/json", [completionJson("m", "a")]);

/** The shipped meter, except that an answer that ends by trailers kills its worker's VM. */
export class TrappingMeter {
  readonly #folder = mkdtempSync(join(tmpdir(), "llm-breaker-trap-"));
  readonly #file = join(this.#folder, "meter.wasm");

  constructor() {
    const shipped = join(findRepoRoot(), "build", "llm-breaker-meter.wasm");
    writeTrappingModule(shipped, this.#file, "proxy_on_response_trailers");
  }

  /** Takes the place of every shipped backend's meter. */
  install(config: ShippedConfig): void {
    for (const name of ["gpu", "small", "public"]) {
      const cluster = clusterOf(config, name);
      keepTrailers(cluster);
      const meter = protocolOf(cluster).http_filters[0]?.typed_config as WasmConfig | undefined;
      Object.assign(meter?.config.vm_config ?? {}, { code: { local: { filename: this.#file } } });
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";
import { modelPolicy } from "../policy.js";
import type { Layout } from "../record/layout.js";
import { RecordWorker } from "../record/worker.js";
import { Crowd, type CrowdOptions } from "./crowd.js";

export const mostWorkers = 6;

/** Workers' instances, which one crowd after the other uses: to start a VM takes longer than a schedule. */
export class Workers {
  readonly #workers: readonly RecordWorker[];
  #crowd: Crowd | undefined;

  constructor(file = join(findRepoRoot(), "build", "test", "records.wasm")) {
    const module = new WebAssembly.Module(readFileSync(file));
    const present = (): Crowd => {
      if (!this.#crowd) throw new Error("a host call without a process");
      return this.#crowd;
    };
    this.#workers = Array.from({ length: mostWorkers }, () => new RecordWorker(module, present, modelPolicy));
  }

  get layout(): Layout {
    const [first] = this.#workers;
    if (!first) throw new Error("no workers");
    return first.layout;
  }

  /** A process that has just started, with so many workers. */
  crowd(count: number, options: CrowdOptions = {}): Crowd {
    this.#crowd = new Crowd(this.#workers.slice(0, count), options);
    this.#crowd.start();
    return this.#crowd;
  }
}

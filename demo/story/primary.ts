import type { ArrivalLog } from "../fleet/arrivals.js";
import type { Backend } from "../fleet/backend.js";

/** The backend that falls ill in the story: the simulated GPU, or a real model on a real server. */
export interface Primary {
  readonly name: string;
  /** For the first line of the story. */
  readonly what: string;
  readonly arrivals: ArrivalLog;
  /** @returns what now is wrong, for the reader */
  beginFault(): Promise<string>;
  /** @returns what happens next, for the reader */
  endFault(): Promise<string>;
  stop(): Promise<void>;
}

/** The simulated GPU: out of memory, then an engine that needs a while to come back. */
export function simulatedPrimary(backend: Backend): Primary {
  const { name, model } = backend.settings;
  return {
    name,
    what: `simulated GPU (${model})`,
    arrivals: backend.arrivals,
    async beginFault() {
      backend.beginFault({ kind: "cudaOutOfMemory", recoveryMs: 3000, recovery: "engineDead" });
      return "CUDA out of memory: each request is answered with a 500";
    },
    async endFault() {
      const lagMs = backend.endFault();
      return `memory is free again; the engine needs ${lagMs / 1000} s to come back`;
    },
    stop: async () => {},
  };
}

// Where the time of full.yaml goes, by leaving out one part at a time. Only asked for when a target is missed.
import type { RunningEnvoy } from "../../test/support/envoy.js";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { Cell } from "../cell.js";
import { unmatchedTo, withoutFilters, withPolicy } from "../configs.js";
import { differences, figure } from "../figures.js";
import type { LoadSettings } from "../load/caller.js";

const blocks = 9;
const requestsPerBlock = 1000;
const warmUpRequests = 3000;

export interface ShareSettings {
  /** A fresh copy of full.yaml. */
  readonly full: () => EnvoyConfig;
  readonly addEnvoy: (config: EnvoyConfig) => Promise<RunningEnvoy>;
  readonly load: (envoy: RunningEnvoy) => LoadSettings;
}

/**
 * Microseconds that full.yaml costs more with a part than without it. Parts overlap (each leaves V8 and its caches to the
 * others), so they don't add up to the whole.
 */
export async function measureShares(settings: ShareSettings): Promise<Record<string, number>> {
  const { full, addEnvoy, load } = settings;
  const variants: Record<string, EnvoyConfig> = {
    everything: full(),
    allFilters: unmatchedTo(withoutFilters(full()), "gpu"),
    countInItsMatcher: withoutFilters(full(), "llm.breaker.count"),
    admit: withoutFilters(full(), "llm.breaker.admit"),
    peekAndHold: withPolicy(full(), (policy) => {
      policy.chains.chat.peek = false;
      policy.chains.chat.maxAttempts = 1;
    }),
    answerHeaders: withPolicy(full(), (policy) => {
      policy.chains.chat.answerHeaders = false;
    }),
  };
  const cells: Record<string, Cell> = {};
  for (const [name, config] of Object.entries(variants)) {
    const envoy = await addEnvoy(config);
    cells[name] = new Cell(name, envoy.pid, load(envoy));
  }
  for (const cell of Object.values(cells)) await cell.warmUp(warmUpRequests);
  for (let block = 0; block < blocks; block++) {
    for (const cell of Object.values(cells)) await cell.measure(requestsPerBlock);
  }
  const { everything, ...without } = cells;
  const whole = everything?.blocks ?? [];
  for (const cell of Object.values(cells)) cell.close();
  return Object.fromEntries(
    Object.entries(without).map(([name, cell]) => [name, figure(differences(whole, cell.blocks)).median]),
  );
}

import type { Summary } from "./summary.js";

/** One cluster's requests by Envoy's count (`upstream_rq_total`) and by ours. */
export interface ClusterCount {
  readonly cluster: string;
  readonly envoy: number;
  readonly fleet: number;
}

/** What must hold besides the summary. */
export interface Checks {
  readonly summary: Summary;
  readonly clusters: readonly ClusterCount[];
  /** Callers' credentials that reached a backend with a key of its own. */
  readonly leakedCredentials: number;
  readonly canaryLimitTokens: number;
  readonly canaryLimitAtOnce: number;
}

/** A promise of the story and whether it was kept. */
export interface Check {
  readonly promise: string;
  readonly kept: boolean;
  readonly seen: string;
}

/** Every promise with what was seen; the run has failed when one was not kept. */
export function judgeStory(checks: Checks): Check[] {
  const { summary, clusters } = checks;
  const check = (promise: string, kept: boolean, seen: string | number): Check => ({
    promise,
    kept,
    seen: `${seen}`,
  });
  return [
    check("no caller saw a bare failure", summary.bareFailures === 0, summary.bareFailures),
    check("the breaker opened", summary.opened >= 1, times(summary.opened)),
    check("the breaker closed again after the fault", summary.timeToRecoverMs >= 0, times(summary.closed)),
    check("the fallback served callers", summary.servedByFallback > 0, summary.servedByFallback),
    check(
      "no user request reached the primary while open",
      summary.primaryHitsWhileOpen === 0,
      summary.primaryHitsWhileOpen,
    ),
    check(
      "at most one probe per opening",
      summary.maxProbesPerOpening <= 1,
      `${summary.probes} probes, opened ${times(summary.opened)}`,
    ),
    check("the ramp let canaries through", summary.canaries > 0, summary.canaries),
    check(
      `canaries had at most ${checks.canaryLimitTokens} prompt tokens`,
      summary.canaryMaxPromptTokens <= checks.canaryLimitTokens,
      `${summary.canaryMaxPromptTokens} tokens`,
    ),
    check(
      `at most ${checks.canaryLimitAtOnce} canaries at once`,
      summary.maxCanariesAtOnce <= checks.canaryLimitAtOnce,
      summary.maxCanariesAtOnce,
    ),
    check(
      "no caller's credential reached the public API",
      checks.leakedCredentials === 0,
      `${checks.leakedCredentials} in its ${clusters.find(({ cluster }) => cluster === "public")?.fleet ?? 0} requests`,
    ),
    ...clusters.map(({ cluster, envoy, fleet }) =>
      check(
        `Envoy and the ${cluster} backend count the same requests`,
        envoy === fleet,
        `${envoy} and ${fleet}`,
      ),
    ),
  ];
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

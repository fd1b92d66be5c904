import type { MetricsPage } from "./metrics-page.js";

/** How the connection to other members stands, asked anew with each page. */
export interface PeersFigures {
  readonly engine: string;
  readonly reachable: number | undefined;
  readonly counts: object;
}

/** Tells of other members' messages; nothing while no peers are configured. */
export function definePeersMetrics(
  page: MetricsPage,
  peers: () => PeersFigures | undefined,
  liveMembers: () => number,
): void {
  page.gauge({
    name: "llm_breaker_peers_live",
    help: "Other members of the group that were heard within the last 3 seconds.",
    labels: ["engine"],
    collect: (put) => {
      const figures = peers();
      if (figures !== undefined) put({ engine: figures.engine }, liveMembers());
    },
  });
  page.gauge({
    name: "llm_breaker_peers_reachable",
    help: "Other members that a message reaches directly. Absent while nobody can know.",
    labels: ["engine"],
    collect: (put) => {
      const { engine = "", reachable } = peers() ?? {};
      if (reachable !== undefined) put({ engine }, reachable);
    },
  });
  page.counter({
    name: "llm_breaker_peers_messages_total",
    help: "Messages of the group: sent, received, refused (no key of ours), stale (repeated, or of who does not hear us), tooLarge.",
    labels: ["engine", "result"],
    collect: (put) => {
      const { engine = "", counts = {} } = peers() ?? {};
      for (const [result, count] of Object.entries(counts)) put({ engine, result }, count);
    },
  });
}

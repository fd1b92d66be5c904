import type { Racer } from "../racer.js";

/** What callers get without any protection. */
export const nothing: Racer = {
  name: "nothing",
  what: "callers speak to the primary's first node itself",
  available: async () => undefined,
  start: async ({ nodes: [port] }) => {
    if (port === undefined) throw new RangeError("a track has at least one node");
    return { port, pids: [], stop: async () => {} };
  },
};

import type { Racer } from "../racer.js";
import { installPeers } from "./peer-packages.js";
import { startProxy } from "./proxy/start.js";

/** The same proxy around the other well-known breaker for Node. */
export const opossum: Racer = {
  name: "opossum",
  what:
    "the same proxy with opossum: for each node a breaker (a quarter of the calls of two seconds, five at least) with a semaphore, " +
    "and a time limit until the first byte",
  available: installPeers,
  start: (track) => startProxy("opossum", track),
};

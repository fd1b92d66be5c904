import type { Racer } from "../racer.js";
import { installPeers } from "./peer-packages.js";
import { startProxy } from "./proxy/start.js";

/** What a Node team writes with the library that it knows. */
export const cockatiel: Racer = {
  name: "cockatiel",
  what:
    "a Node proxy with cockatiel: for each node a bulkhead, a CountBreaker (half of the last ten calls) and a time limit until " +
    "the first byte; a second node, then the fallback, while nothing was passed on",
  available: installPeers,
  start: (track) => startProxy("cockatiel", track),
};

import type { PeersParts } from "./peers/peers.js";

/** What tests put in the place of the real thing. */
export interface ServiceParts extends PeersParts {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

import type { Group } from "../peers/group.js";
import type { Gateways } from "../sync/gateways.js";
import type { History } from "./history.js";
import type { Trends } from "./trends.js";

/*
 * What the control side asks of the rest of the service.
 */

/** How gateways stand, and stood. */
export type Fleet = Pick<Gateways, "list" | "secondsOf">;

/** The rest of the service, as routes need it. */
export interface ControlParts {
  readonly fleet: Fleet;
  readonly history: History;
  readonly trends: Pick<Trends, "view">;
  readonly group: Pick<Group, "reset" | "view">;
  /** What the group's members reach each other by. */
  engine(): "gossip" | "redis" | "none";
}

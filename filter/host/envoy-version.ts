// What the Envoy that runs the filter can do, by its version. The node tells it, unless the bootstrap says otherwise.
import { readProperty } from "./properties";
import { resultPtr, resultSize } from "./result";
import { Text } from "./text";

const MAJOR = Text.path("xds/node/user_agent_build_version/version/major_number");
const MINOR = Text.path("xds/node/user_agent_build_version/version/minor_number");

const NOT_ASKED: i32 = -1;
/** An Envoy that does not tell counts as able: it is more likely a later build than an old one. */
const NEWEST: i32 = i32.MAX_VALUE;

let minor: i32 = NOT_ASKED;

/** Whether a retry can go to another cluster, if its route asks for it: `refresh_cluster_on_retry` came with Envoy 1.39. */
export function canChangeCluster(): bool {
  return minorVersion() >= 39;
}

/**
 * Whether an answer that was held may be retried when it is let go. Before 1.37 Envoy goes on with the bytes of an attempt that
 * the retry has already destroyed, and ends in a segmentation fault.
 */
export function canRetryHeld(): bool {
  return minorVersion() >= 37;
}

/** The y of version 1.y. O(1), and without a host call after the first. */
function minorVersion(): i32 {
  if (minor === NOT_ASKED) minor = readNumber(MAJOR) === 1 ? readNumber(MINOR) : NEWEST;
  return minor;
}

function readNumber(path: Text): i32 {
  return readProperty(path) && resultSize() === 8 ? <i32>min<u64>(load<u64>(resultPtr()), NEWEST) : NEWEST;
}

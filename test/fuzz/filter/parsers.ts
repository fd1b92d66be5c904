// The filter's parsers for the fuzzer, one instance for all cases. Nothing of it is shipped.

// Where the runtime's abort is.
import "../../../filter/host/abi";

export {
  answerEnd,
  answerFacts,
  answerFeed,
  answerReset,
  factsAt,
  peekFacts,
  peekFeed,
  peekReset,
  sseFeed,
  sseReset,
} from "./bodies";
export { isRoomIntact, roomAt } from "./guarded";
export { collect, directive, directiveVersion, policyFaults, policyJson, protoFields } from "./messages";
export {
  classes,
  composePath,
  decimal,
  fits,
  jsonText,
  loadMetrics,
  loadWaiting,
  rulesFeed,
  rulesReset,
  setRules,
  walkPairs,
} from "./texts";

// The policy's parser and the breaker alone, for the service's dry-run: recorded seconds in, transitions out. Envoy never loads it.

// Where the runtime's abort is.
import "./host/abi";

export {
  allocateText,
  backendCount,
  backendName,
  begin,
  causeText,
  errorText,
  parse,
  policyName,
  refusedCalls,
  replaySecond,
  stateText,
  transitionCount,
  transitionsAt,
} from "./dry-run";

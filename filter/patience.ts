// Whether a request is one of those that can wait when an engine's queue is long: by the class of its route, asked for only then.
import { readProperty } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { PROPERTY_CLASS } from "./names";
import { Policy } from "./policy/policy";

/** Whether the route's class, `metadata.filter_metadata.llm.breaker.class`, is one of the policy's `shedClasses`. One host call. */
export function canWait(policy: Policy): bool {
  const classes = policy.shedClasses;
  if (classes.length === 0 || !readProperty(PROPERTY_CLASS)) return false;
  const ptr = resultPtr();
  const size = resultSize();
  for (let i = 0; i < classes.length; i++) {
    if (unchecked(classes[i]).equals(ptr, size)) return true;
  }
  return false;
}

// Which tiers a request was kept from, for its span: Envoy reads the filter state when the span ends.
import { allocate } from "./host/arena";
import { readProperty, writeFilterState } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Text } from "./host/text";
import * as names from "./names";
import { Chain } from "./policy/policy";
import { RequestRecord } from "./request-record";

const REFUSED = Text.of("=refused");
const LIMITED = Text.of("=limited");
const SHED = Text.of("=shed");
const SEPARATOR = Text.of(", ");
/** An alias, a reason and a separator at most. */
const MAX_ENTRY: i32 = 80;

/**
 * Adds to what was told of the request before: "gpu=refused, small=shed". Each tier is told of once, so it is bounded.
 * @param passed bit n: tier n, whose reason the request still keeps
 */
export function tellPassedOver(request: RequestRecord, chain: Chain, passed: u8): void {
  const told = readProperty(names.STATE_PASSED_OVER) ? resultSize() : 0;
  const earlier = resultPtr();
  const start = allocate(told + chain.tiers.length * MAX_ENTRY);
  if (start === 0) return;
  if (told > 0) memory.copy(start, earlier, told);
  let at = start + <usize>told;
  for (let i = 0; i < chain.tiers.length; i++) {
    const bit = <u8>(1 << (<u8>i));
    if ((passed & bit) === 0) continue;
    if (at > start) at = put(at, SEPARATOR);
    at = put(at, unchecked(chain.tiers[i]).aliasText);
    at = put(at, reasonOf(request, bit));
  }
  writeFilterState(names.STATE_PASSED_OVER, start, <i32>(at - start));
}

function reasonOf(request: RequestRecord, bit: u8): Text {
  if ((request.refusedBy & bit) !== 0) return REFUSED;
  return (request.limitedBy & bit) !== 0 ? LIMITED : SHED;
}

function put(at: usize, text: Text): usize {
  memory.copy(at, text.ptr, text.length);
  return at + <usize>text.length;
}

// Trailers are headers behind a body: what may not stand in those may not stand here either. Few requests have any.
import { isForbidden } from "./forbidden";
import { HeaderMap, Pairs, removeHeaderAt } from "./host/headers";
import * as names from "./names";
import { isSecret } from "./secrets";

const pairs: Pairs = new Pairs();

/** Of a caller: orders to Envoy, and what is said in our name. */
export function removeForbiddenTrailers(): void {
  if (!pairs.readHeaders(HeaderMap.REQUEST_TRAILERS)) return;
  while (pairs.next()) {
    if (isForbidden(pairs.name, pairs.nameLength)) remove(HeaderMap.REQUEST_TRAILERS);
  }
}

/** Of a caller, on the way to a backend with a key of its own. */
export function removeSecretTrailers(): void {
  if (!pairs.readHeaders(HeaderMap.REQUEST_TRAILERS)) return;
  while (pairs.next()) {
    if (isSecret(pairs.name, pairs.nameLength)) remove(HeaderMap.REQUEST_TRAILERS);
  }
}

/** Of a caller, on the way to a backend that is not to see the request. */
export function removeRequestTrailers(): void {
  if (!pairs.readHeaders(HeaderMap.REQUEST_TRAILERS)) return;
  while (pairs.next()) remove(HeaderMap.REQUEST_TRAILERS);
}

/** Of a backend: what is said in our name. */
export function removeForgedTrailers(): void {
  if (!pairs.readHeaders(HeaderMap.RESPONSE_TRAILERS)) return;
  while (pairs.next()) {
    const length = pairs.nameLength;
    if (names.HEADER_PREFIX.isPrefixOf(pairs.name, length) || names.RATE_LIMITED.equals(pairs.name, length))
      remove(HeaderMap.RESPONSE_TRAILERS);
  }
}

function remove(map: HeaderMap): void {
  removeHeaderAt(map, pairs.name, pairs.nameLength);
}

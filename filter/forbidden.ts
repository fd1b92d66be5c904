// What no caller may say: in our name, or as an order to Envoy.
import { Text } from "./host/text";
import * as names from "./names";

/**
 * Headers of Envoy's own that only describe the connection. Every other `x-envoy-*` header is an order to Envoy (retries,
 * timeouts, statistics), which a mesh's listener may obey from a client (traps.md 17).
 */
const HARMLESS: Text[] = [
  Text.of("x-envoy-external-address"),
  Text.of("x-envoy-internal"),
  Text.of("x-envoy-peer-metadata"),
  Text.of("x-envoy-downstream-service"),
];

/** Whether a header, or a trailer, is not for callers to send. Names come in lower case. */
export function isForbidden(name: usize, length: i32): bool {
  if (length < 8) return false;
  // What engines tell of themselves is not for callers to ask for.
  if (load<u8>(name) === 0x65) return names.LOAD_FORMAT.equals(name, length);
  if (load<u8>(name) !== 0x78) return false;
  if (names.HEADER_PREFIX.isPrefixOf(name, length)) return true;
  if (!names.ENVOY_PREFIX.isPrefixOf(name, length)) return false;
  for (let i = 0; i < HARMLESS.length; i++) {
    if (unchecked(HARMLESS[i]).isPrefixOf(name, length)) return false;
  }
  return true;
}

import { OK, proxy_call_foreign_function, proxy_get_property, proxy_set_property } from "./abi";
import { allocate } from "./arena";
import { RESULT, RESULT_SIZE } from "./result";
import { Text } from "./text";

const DECLARE = Text.of("declare_property");
const CLEAR_ROUTE_CACHE = Text.of("clear_route_cache");

/** Reads a property or filter state into scratch memory: {@link resultPtr} and {@link resultSize} tell of it. */
export function readProperty(path: Text): bool {
  return proxy_get_property(path.ptr, path.length, RESULT, RESULT_SIZE) === OK;
}

/** Sets filter state `wasm.<name>` of the request. */
export function writeFilterState(name: Text, ptr: usize, size: i32): bool {
  return proxy_set_property(name.ptr, name.length, ptr, size) === OK;
}

/**
 * Makes filter state `wasm.<name>` live as long as the downstream request, so that every attempt and every position
 * reads and writes the same value. Protobuf of Envoy's DeclarePropertyArguments: 1 name, 3 type (1 string), 5 span
 * (1 downstream request).
 */
export function declareFilterState(name: Text): void {
  const argument = allocate(name.length + 6);
  if (argument === 0) return;
  store<u8>(argument, 0x0a);
  store<u8>(argument + 1, <u8>name.length);
  memory.copy(argument + 2, name.ptr, name.length);
  store<u32>(argument + 2 + name.length, 0x01280118);
  proxy_call_foreign_function(DECLARE.ptr, DECLARE.length, argument, name.length + 6, RESULT, RESULT_SIZE);
}

/** Lets Envoy choose the route, and with it the cluster, again. */
export function clearRouteCache(): void {
  proxy_call_foreign_function(CLEAR_ROUTE_CACHE.ptr, CLEAR_ROUTE_CACHE.length, 0, 0, RESULT, RESULT_SIZE);
}

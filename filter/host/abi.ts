// The proxy-wasm ABI 0.2.1 as Envoy offers it: raw imports, nothing else.
// The one file with function decorators, which Biome cannot parse; it is left out of formatting.
// Pointers are usize, sizes usize, results are the host's status codes (0 = ok).
// Source: https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1

export const OK: u32 = 0;
export const CAS_MISMATCH: u32 = 8;

// prettier-ignore
// @ts-ignore: decorator
@external("env", "proxy_log") export declare function proxy_log(level: u32, message: usize, size: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_get_property") export declare function proxy_get_property(path: usize, size: usize, valueOut: usize, sizeOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_set_property") export declare function proxy_set_property(path: usize, size: usize, value: usize, valueSize: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_get_shared_data") export declare function proxy_get_shared_data(key: usize, keySize: usize, valueOut: usize, sizeOut: usize, casOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_set_shared_data") export declare function proxy_set_shared_data(key: usize, keySize: usize, value: usize, valueSize: usize, cas: u32): u32;
// @ts-ignore: decorator
@external("env", "proxy_get_header_map_pairs") export declare function proxy_get_header_map_pairs(map: u32, valueOut: usize, sizeOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_get_header_map_value") export declare function proxy_get_header_map_value(map: u32, key: usize, keySize: usize, valueOut: usize, sizeOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_add_header_map_value") export declare function proxy_add_header_map_value(map: u32, key: usize, keySize: usize, value: usize, valueSize: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_replace_header_map_value") export declare function proxy_replace_header_map_value(map: u32, key: usize, keySize: usize, value: usize, valueSize: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_remove_header_map_value") export declare function proxy_remove_header_map_value(map: u32, key: usize, keySize: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_get_buffer_bytes") export declare function proxy_get_buffer_bytes(buffer: u32, start: usize, length: usize, valueOut: usize, sizeOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_set_buffer_bytes") export declare function proxy_set_buffer_bytes(buffer: u32, start: usize, length: usize, value: usize, valueSize: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_send_local_response") export declare function proxy_send_local_response(status: u32, details: usize, detailsSize: usize, body: usize, bodySize: usize, headers: usize, headersSize: usize, grpcStatus: i32): u32;
// @ts-ignore: decorator
@external("env", "proxy_continue_stream") export declare function proxy_continue_stream(stream: u32): u32;
// @ts-ignore: decorator
@external("env", "proxy_close_stream") export declare function proxy_close_stream(stream: u32): u32;
// @ts-ignore: decorator
@external("env", "proxy_set_effective_context") export declare function proxy_set_effective_context(context: u32): u32;
// @ts-ignore: decorator
@external("env", "proxy_set_tick_period_milliseconds") export declare function proxy_set_tick_period_milliseconds(period: u32): u32;
// @ts-ignore: decorator
@external("env", "proxy_http_call") export declare function proxy_http_call(cluster: usize, clusterSize: usize, headers: usize, headersSize: usize, body: usize, bodySize: usize, trailers: usize, trailersSize: usize, timeout: u32, tokenOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_call_foreign_function") export declare function proxy_call_foreign_function(name: usize, nameSize: usize, argument: usize, argumentSize: usize, resultOut: usize, sizeOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_define_metric") export declare function proxy_define_metric(kind: u32, name: usize, nameSize: usize, idOut: usize): u32;
// @ts-ignore: decorator
@external("env", "proxy_increment_metric") export declare function proxy_increment_metric(id: u32, offset: i64): u32;
// @ts-ignore: decorator
@external("env", "proxy_record_metric") export declare function proxy_record_metric(id: u32, value: u64): u32;
// @ts-ignore: decorator
@external("env", "proxy_get_metric") export declare function proxy_get_metric(id: u32, valueOut: usize): u32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "clock_time_get") export declare function clock_time_get(id: u32, precision: u64, timeOut: usize): u32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "random_get") export declare function random_get(buffer: usize, size: usize): u32;

/** Where AssemblyScript's runtime ends up when memory is gone: a trap, which Envoy answers by reloading the VM. */
export function abort(_message: usize, _file: usize, _line: u32, _column: u32): void {
  unreachable();
}

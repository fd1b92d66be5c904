import {
  OK,
  proxy_add_header_map_value,
  proxy_get_header_map_pairs,
  proxy_get_header_map_value,
  proxy_remove_header_map_value,
  proxy_replace_header_map_value,
} from "./abi";
import { RESULT, RESULT_SIZE, resultPtr, resultSize } from "./result";
import { Text } from "./text";

export enum HeaderMap {
  REQUEST = 0,
  REQUEST_TRAILERS = 1,
  RESPONSE = 2,
  RESPONSE_TRAILERS = 3,
  CALL_RESPONSE = 6,
}

export function readHeader(map: HeaderMap, name: Text): bool {
  return proxy_get_header_map_value(map, name.ptr, name.length, RESULT, RESULT_SIZE) === OK;
}

export function setHeader(map: HeaderMap, name: Text, value: usize, size: i32): void {
  proxy_replace_header_map_value(map, name.ptr, name.length, value, size);
}

export function setHeaderAt(map: HeaderMap, name: usize, nameLength: i32, value: usize, size: i32): void {
  proxy_replace_header_map_value(map, name, nameLength, value, size);
}

export function addHeader(map: HeaderMap, name: Text, value: usize, size: i32): void {
  proxy_add_header_map_value(map, name.ptr, name.length, value, size);
}

export function addHeaderAt(map: HeaderMap, name: usize, nameLength: i32, value: usize, size: i32): void {
  proxy_add_header_map_value(map, name, nameLength, value, size);
}

export function removeHeader(map: HeaderMap, name: Text): void {
  proxy_remove_header_map_value(map, name.ptr, name.length);
}

export function removeHeaderAt(map: HeaderMap, name: usize, size: i32): void {
  proxy_remove_header_map_value(map, name, size);
}

/**
 * Walks marshalled pairs (count, then key and value sizes, then NUL-ended bytes), the form in which the host gives a
 * whole header map or a metadata struct in one call. Trusts no size: stops where the bytes end.
 */
@final
export class Pairs {
  name: usize = 0;
  nameLength: i32 = 0;
  value: usize = 0;
  valueLength: i32 = 0;
  private sizes: usize = 0;
  private data: usize = 0;
  private end: usize = 0;
  private left: u32 = 0;

  /** Reads every header of `map`; false when the host refuses or scratch memory is exhausted. */
  readHeaders(map: HeaderMap): bool {
    this.left = 0;
    if (proxy_get_header_map_pairs(map, RESULT, RESULT_SIZE) !== OK) return false;
    this.open(resultPtr(), resultSize());
    return true;
  }

  open(ptr: usize, size: i32): void {
    this.left = 0;
    if (ptr === 0 || size < 4) return;
    const count = load<u32>(ptr);
    if (<u64>4 + <u64>count * 8 > <u64>size) return;
    this.sizes = ptr + 4;
    this.data = ptr + 4 + count * 8;
    this.end = ptr + size;
    this.left = count;
  }

  next(): bool {
    if (this.left === 0) return false;
    this.left--;
    const nameLength = load<u32>(this.sizes);
    const valueLength = load<u32>(this.sizes, 4);
    this.sizes += 8;
    if (<u64>this.data + nameLength + valueLength + 2 > <u64>this.end) {
      this.left = 0;
      return false;
    }
    this.name = this.data;
    this.nameLength = nameLength;
    this.value = this.data + nameLength + 1;
    this.valueLength = valueLength;
    this.data += nameLength + valueLength + 2;
    return true;
  }
}

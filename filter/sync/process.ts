// Who this Envoy process is, to the service: a name drawn once in its life, and the node's of its bootstrap.
import { allocate } from "../host/arena";
import { secret64 } from "../host/clock";
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { createShared, readShared } from "../host/shared-data";
import { KEY_PROCESS, PROPERTY_NODE_ID } from "../names";

export const HEX_SIZE: i32 = 16;
const MAX_NODE: i32 = 256;

/** Draws the process's name; the first VM decides it. */
export function nameProcess(): void {
  if (readShared(KEY_PROCESS)) return;
  const name = allocate(HEX_SIZE);
  if (name === 0) return;
  putHex(name, secret64());
  createShared(KEY_PROCESS, name, HEX_SIZE);
}

/** Reads the process's name; `resultPtr` and `resultSize` tell of it. */
export function readProcess(): bool {
  return readShared(KEY_PROCESS) && resultSize() === HEX_SIZE;
}

let nodeLength: i32 = 0;

/** The node's id, in scratch memory; {@link nodeIdLength} tells its length. */
export function readNodeId(): usize {
  nodeLength = readProperty(PROPERTY_NODE_ID) ? wholeLength(resultPtr(), resultSize(), MAX_NODE) : 0;
  return nodeLength > 0 ? resultPtr() : 0;
}

export function nodeIdLength(): i32 {
  return nodeLength;
}

/** Sixteen hex digits of a number, the highest first. */
export function putHex(to: usize, value: u64): void {
  for (let i = 0; i < HEX_SIZE; i++) {
    const digit = <u8>((value >> (<u64>(HEX_SIZE - 1 - i) * 4)) & 15);
    store<u8>(to + i, digit < 10 ? 0x30 + digit : 0x57 + digit);
  }
}

/** How much of a text fits into `most` bytes without cutting a character of UTF-8 in two. */
export function wholeLength(ptr: usize, length: i32, most: i32): i32 {
  if (length <= most) return max(length, 0);
  let end = most;
  while (end > 0 && (load<u8>(ptr + end) & 0xc0) === 0x80) end--;
  return end;
}

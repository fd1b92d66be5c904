import { CAS_MISMATCH, OK, proxy_get_shared_data, proxy_set_shared_data } from "./abi";
import { RESULT, RESULT_CAS, RESULT_SIZE } from "./result";
import { Text } from "./text";

/** Never given out by the host: a write with it succeeds only where the key is absent (0 would overwrite blindly). */
const IF_ABSENT: u32 = 0xffffffff;

/** More lost races than this in a row and an update is given up (traps.md C: 4 were the most seen). */
export const MAX_TRIES: i32 = 16;

/** Reads a value into scratch memory: {@link resultPtr}, {@link resultSize} and {@link sharedCas} tell of it. */
export function readShared(key: Text): bool {
  return proxy_get_shared_data(key.ptr, key.length, RESULT, RESULT_SIZE, RESULT_CAS) === OK;
}

/** The version of the value that was just read. */
export function sharedCas(): u32 {
  return load<u32>(RESULT_CAS);
}

/** False when another worker wrote since `cas` was read. */
export function writeShared(key: Text, ptr: usize, size: i32, cas: u32): bool {
  return proxy_set_shared_data(key.ptr, key.length, ptr, size, cas) !== CAS_MISMATCH;
}

export function createShared(key: Text, ptr: usize, size: i32): bool {
  return writeShared(key, ptr, size, IF_ABSENT);
}

/** Puts a value in place of the one that was just read, or of none; false when another worker was faster. */
export function replaceShared(key: Text, ptr: usize, size: i32, wasThere: bool): bool {
  return wasThere ? writeShared(key, ptr, size, sharedCas()) : createShared(key, ptr, size);
}

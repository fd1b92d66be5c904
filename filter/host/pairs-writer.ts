import { allocate } from "./arena";
import { Text } from "./text";

const MAX_PAIRS: i32 = 256;
const names: StaticArray<usize> = new StaticArray<usize>(MAX_PAIRS * 2);
const lengths: StaticArray<i32> = new StaticArray<i32>(MAX_PAIRS * 2);
let count: i32 = 0;
let written: i32 = 0;

/** Starts a list of header pairs for a local reply or a call; at most 256. */
export function startPairs(): void {
  count = 0;
}

/** False when the list is full. */
export function putBytes(name: usize, nameLength: i32, value: usize, length: i32): bool {
  if (count === MAX_PAIRS) return false;
  names[count * 2] = name;
  lengths[count * 2] = nameLength;
  names[count * 2 + 1] = value;
  lengths[count * 2 + 1] = length;
  count++;
  return true;
}

export function putPair(name: Text, value: usize, length: i32): void {
  putBytes(name.ptr, name.length, value, length);
}

export function putText(name: Text, value: Text): void {
  putPair(name, value.ptr, value.length);
}

/** Marshals the list into scratch memory; its size is in {@link pairsSize}. 0 when scratch is exhausted. */
export function finishPairs(): usize {
  let size = 4 + count * 8;
  for (let i = 0; i < count * 2; i++) size += lengths[i] + 1;
  const ptr = allocate(size);
  written = ptr === 0 ? 0 : size;
  if (ptr === 0) return 0;
  store<u32>(ptr, count);
  let data = ptr + 4 + count * 8;
  for (let i = 0; i < count * 2; i++) {
    store<u32>(ptr + 4 + i * 4, lengths[i]);
    memory.copy(data, names[i], lengths[i]);
    store<u8>(data + lengths[i], 0);
    data += lengths[i] + 1;
  }
  return ptr;
}

export function pairsSize(): i32 {
  return written;
}

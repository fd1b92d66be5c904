// One place in memory where the host puts a pointer, a size and a number. Read it before the next host call.

export const RESULT: usize = heap.alloc(32);
export const RESULT_SIZE: usize = RESULT + 8;
export const RESULT_CAS: usize = RESULT + 16;

export function resultPtr(): usize {
  return load<usize>(RESULT);
}

export function resultSize(): i32 {
  return load<i32>(RESULT_SIZE);
}

const GUARD: u64 = 0xa5a5_5a5a;

/** Memory that nobody else has, with guard words around it that must stay as they are. */
export function guarded(size: usize): usize {
  const block = heap.alloc(size + 32);
  memory.fill(block, 0xcc, size + 32);
  const ptr = (block + 23) & ~15;
  store<u64>(ptr - 8, GUARD);
  store<u64>(ptr + size, GUARD);
  return ptr;
}

export function isIntact(ptr: usize, size: usize): bool {
  return load<u64>(ptr - 8) === GUARD && load<u64>(ptr + size) === GUARD;
}

// Scratch memory for what the host hands us. A stack: each callback marks the top and releases back to it, so
// that a callback which the host runs inside another one (a probe's attempt, say) leaves the outer one's bytes alone.

const ARENA_SIZE: usize = 1 << 18;
const OVERFLOW_SLOTS: i32 = 16;
const OVERFLOW_LIMIT: usize = 1 << 24;

const arena: usize = heap.alloc(ARENA_SIZE);
const overflow: StaticArray<usize> = new StaticArray<usize>(OVERFLOW_SLOTS);
let top: usize = 0;
let overflowTop: i32 = 0;
let depth: i32 = 0;

/** The current top; give it back to {@link release}. */
export function mark(): usize {
  depth++;
  return top;
}

export function release(to: usize): void {
  top = to;
  if (--depth > 0) return;
  while (overflowTop > 0) heap.free(overflow[--overflowTop]);
}

/**
 * `size` bytes, or 0 when there are none: the host then reports an error to its caller and nothing traps. What does
 * not fit the arena (a huge header map, a large policy) lives on the heap until the outermost callback ends.
 */
export function allocate(size: usize): usize {
  const at = (top + 15) & ~15;
  if (size <= ARENA_SIZE && at + size <= ARENA_SIZE) {
    top = at + size;
    return arena + at;
  }
  if (size > OVERFLOW_LIMIT || overflowTop === OVERFLOW_SLOTS) return 0;
  const block = heap.alloc(size);
  overflow[overflowTop++] = block;
  return block;
}

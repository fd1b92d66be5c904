// Finds the state of a live stream by its context id: a fixed hash table of intrusive lists over pooled slots. The host
// counts ids up, so they spread evenly; a lookup costs the same with ten or with thousands of streams, and a slot of a
// finished stream is used again, so that steady traffic allocates nothing.

const TABLE_SIZE: u32 = 1 << 14;
const SLOTS_PER_BLOCK: i32 = 16;

/** The head of every slot; positions extend it with their own fields. */
@unmanaged
export class Slot {
  id: u32;
  root: u32;
  /** Which pool the slot goes back to. */
  kind: u32;
  /** The next of those that share a place in the table. No field of a position may have its name: it would be this one. */
  collided: usize;
}

const table: StaticArray<usize> = new StaticArray<usize>(TABLE_SIZE);

/** Slots of one size, a multiple of 8. Grows by blocks when more streams live than ever before; never shrinks. */
@final
export class SlotPool {
  private free: usize = 0;

  constructor(private readonly size: i32) {}

  take(): usize {
    const slot = this.takeAsLeft();
    memory.fill(slot, 0, this.size);
    return slot;
  }

  /** Whatever its last holder left in it: for those who reset what they use. */
  takeAsLeft(): usize {
    if (this.free === 0) this.grow();
    const slot = this.free;
    this.free = load<usize>(slot);
    return slot;
  }

  give(slot: usize): void {
    store<usize>(slot, this.free);
    this.free = slot;
  }

  private grow(): void {
    const block = heap.alloc(this.size * SLOTS_PER_BLOCK);
    for (let i = 0; i < SLOTS_PER_BLOCK; i++) this.give(block + i * this.size);
  }
}

export function insertSlot(slot: Slot): void {
  const at = slot.id & (TABLE_SIZE - 1);
  slot.collided = table[at];
  table[at] = changetype<usize>(slot);
}

/** The slot of a context, or 0 when it is none of ours. */
export function findSlot(id: u32): usize {
  let at = table[id & (TABLE_SIZE - 1)];
  while (at !== 0) {
    const slot = changetype<Slot>(at);
    if (slot.id === id) return at;
    at = slot.collided;
  }
  return 0;
}

/** Takes a context out of the table and returns its slot, or 0. */
export function removeSlot(id: u32): usize {
  const head = id & (TABLE_SIZE - 1);
  let before: usize = 0;
  let at = table[head];
  while (at !== 0) {
    const slot = changetype<Slot>(at);
    if (slot.id === id) {
      if (before === 0) table[head] = slot.collided;
      else changetype<Slot>(before).collided = slot.collided;
      return at;
    }
    before = at;
    at = slot.collided;
  }
  return 0;
}

// Lists as headers carry them: "gpu, small".

const COMMA: u8 = 0x2c;
const SPACE: u8 = 0x20;

/** Whether a name stands in a comma-separated list, blanks around it left aside. An empty name is in no list. */
export function listHas(list: usize, listLength: i32, name: usize, nameLength: i32): bool {
  if (nameLength <= 0) return false;
  const end = list + <usize>listLength;
  let from = list;
  while (from < end) {
    let to = from;
    while (to < end && load<u8>(to) !== COMMA) to++;
    const next = to + 1;
    while (from < to && load<u8>(from) === SPACE) from++;
    while (to > from && load<u8>(to - 1) === SPACE) to--;
    if (<i32>(to - from) === nameLength && memory.compare(from, name, nameLength) === 0) return true;
    from = next;
  }
  return false;
}

import { guarded, isIntact } from "./guard-words";

/** Room for texts of a case; the host writes it, and reads what a parser has written. */
export const ROOM_SIZE: usize = 1 << 20;
const room = guarded(ROOM_SIZE);

export function roomAt(): usize {
  return room;
}

export function isRoomIntact(): bool {
  return isIntact(room, ROOM_SIZE);
}

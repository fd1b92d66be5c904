// Protobuf and the policy.

import { Move } from "../../../filter/breaker/move";
import { Summary } from "../../../filter/breaker/restore";
import { ProtoReader } from "../../../filter/bytes/proto-reader";
import { JsonParser, stringify } from "../../../filter/policy/json";
import { parsePolicy } from "../../../filter/policy/parse-policy";
import { Heard, hear, heard, move, summary } from "../../../filter/sync/heard";
import { roomAt } from "./guarded";

const reader = new ProtoReader();

/** Writes three numbers of 64 bits for each field into the room: number, value or length, place. Negative: broken behind so many. */
export function protoFields(ptr: usize, length: i32): i32 {
  let fields: i32 = 0;
  reader.open(ptr, length);
  while (reader.next()) {
    const at = roomAt() + <usize>fields * 24;
    store<u64>(at, <u64>reader.field);
    store<u64>(at + 8, reader.isNumber ? reader.value : <u64>reader.length);
    store<u64>(at + 16, reader.isNumber ? u64.MAX_VALUE : <u64>(reader.ptr - ptr));
    fields++;
  }
  return reader.isBroken ? -1 - fields : fields;
}

/** Whether the bytes are a directive; its numbers stand in the room. */
export function directive(ptr: usize, length: i32): bool {
  if (!hear(ptr, length)) return false;
  const at = roomAt();
  memory.copy(at, changetype<usize>(heard), offsetof<Heard>());
  memory.copy(at + 256, changetype<usize>(move), offsetof<Move>());
  memory.copy(at + 512, changetype<usize>(summary), offsetof<Summary>());
  isInside(heard.name, heard.nameLength, ptr, length);
  isInside(heard.who, heard.whoLength, ptr, length);
  isInside(heard.why, heard.whyLength, ptr, length);
  return true;
}

function isInside(part: usize, size: i32, ptr: usize, length: i32): void {
  if (size === 0) return;
  if (part < ptr || size < 0 || part + <usize>size > ptr + <usize>length) unreachable();
}

export function directiveVersion(): u64 {
  return heard.hasOverride ? heard.overrideVersion : 0;
}

/** Writes the tree's text into the room; bytes written, -1 when it is no JSON. */
export function policyJson(ptr: usize, length: i32): i32 {
  const root = new JsonParser(String.UTF8.decodeUnsafe(ptr, length)).parse();
  if (!root) return -1;
  const text = String.UTF8.encode(stringify(root));
  memory.copy(roomAt(), changetype<usize>(text), text.byteLength);
  return text.byteLength;
}

/** Faults of a policy, their text in the room; its bytes, 0 when it is good. */
export function policyFaults(ptr: usize, length: i32): i32 {
  const errors: string[] = [];
  const policy = parsePolicy(String.UTF8.decodeUnsafe(ptr, length), 1, errors);
  if (policy) return 0;
  const text = String.UTF8.encode(errors.join("; "));
  memory.copy(roomAt(), changetype<usize>(text), min(text.byteLength, 1 << 19));
  return max(text.byteLength, 1);
}

/** Between cases: what they have left behind. */
export function collect(): void {
  __collect();
}

import type { Edit } from "../body/splice.js";
import type { Member, Span, TopLevel } from "../body/top-level.js";

/** A member of the body and what is to become of it. */
export interface PlannedMember extends Span {
  readonly member: Member;
  /** The key it will have. */
  key: string;
  /** Stands in the value's place. */
  newValue: Buffer | undefined;
  isRemoved: boolean;
}

/**
 * What is to become of a body's outermost object, member by member. Rules are applied one after the other, each to
 * what the earlier ones left; the edits are made once, at the end, so that they never overlap. Every step is one walk
 * over the members without a copy of them: a hostile body has a hundred thousand.
 */
export class BodyPlan {
  private readonly all: readonly PlannedMember[];
  private readonly added: { key: string; value: Buffer }[] = [];

  constructor(
    /** The object's bytes, without a byte order mark. */
    readonly json: Buffer,
    private readonly top: TopLevel,
  ) {
    this.all = top.members.map((member) => ({
      member,
      start: member.keyStart,
      end: member.valueEnd,
      key: member.key,
      newValue: undefined,
      isRemoved: false,
    }));
  }

  /** Members of this key that stay, in order: duplicates are all there. */
  *named(key: string): Generator<PlannedMember> {
    for (const planned of this.all) if (planned.key === key && !planned.isRemoved) yield planned;
  }

  /** Of duplicate keys the one that most servers take. */
  last(key: string): PlannedMember | undefined {
    return this.all.findLast((planned) => planned.key === key && !planned.isRemoved);
  }

  has(key: string): boolean {
    return this.last(key) !== undefined;
  }

  /** The value as it came. */
  valueOf({ member }: PlannedMember): Buffer {
    return this.json.subarray(member.valueStart, member.valueEnd);
  }

  remove(...keys: readonly string[]): void {
    const unwanted = new Set(keys);
    for (const planned of this.all) if (unwanted.has(planned.key)) planned.isRemoved = true;
  }

  /** A member that has the new key already wins over the renamed one, since the caller knew the backend's name. */
  rename(from: string, to: string): void {
    if (from === to) return;
    const isTaken = this.has(to);
    for (const planned of this.all) {
      if (planned.key !== from || planned.isRemoved) continue;
      if (isTaken) planned.isRemoved = true;
      else planned.key = to;
    }
    for (const addition of this.added) if (addition.key === from) addition.key = to;
  }

  add(key: string, value: string): void {
    this.added.push({ key, value: Buffer.from(value) });
  }

  edits(): Edit[] {
    const edits = this.additions();
    for (const planned of this.all) if (!planned.isRemoved) pushChanges(edits, planned);
    return edits.concat(removalsOf(this.all));
  }

  /** After the last member that stays; an insertion comes before a removal that begins at the same byte. */
  private additions(): Edit[] {
    const text = this.added.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",");
    if (text === "") return [];
    const last = this.all.findLast(({ isRemoved }) => !isRemoved);
    const at = last?.end ?? this.all[0]?.start ?? this.top.end;
    return [{ start: at, end: at, bytes: Buffer.from(last === undefined ? text : `,${text}`) }];
  }
}

function pushChanges(edits: Edit[], { member, key, newValue }: PlannedMember): void {
  if (key !== member.key) {
    edits.push({ start: member.keyStart, end: member.keyEnd, bytes: Buffer.from(JSON.stringify(key)) });
  }
  if (newValue) edits.push({ start: member.valueStart, end: member.valueEnd, bytes: newValue });
}

const NOTHING = Buffer.alloc(0);

/**
 * The edits that take entries out of a comma-separated list, each run of them with one comma: the one behind it, or
 * the one before it when nothing follows.
 */
export function removalsOf(entries: readonly (Span & { isRemoved: boolean })[]): Edit[] {
  const edits: Edit[] = [];
  for (let from = 0; from < entries.length; from++) {
    const first = entries[from];
    if (!first?.isRemoved) continue;
    let next = from;
    while (entries[next]?.isRemoved) next++;
    const start = entries[next] === undefined ? (entries[from - 1]?.end ?? first.start) : first.start;
    const end = entries[next]?.start ?? entries.at(-1)?.end ?? first.end;
    edits.push({ start, end, bytes: NOTHING });
    from = next;
  }
  return edits;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { Overrides } from "../../../extproc/control/overrides.js";
import { Group } from "../../../extproc/peers/group.js";

interface Member {
  readonly group: Group;
  readonly overrides: Overrides;
}

/** Members that hear each other's every message at once. */
function membersOf(names: readonly string[], isGrouped: boolean): { members: Member[]; messages: string[] } {
  const messages: string[] = [];
  let now = 0;
  const members = names.map((name) => {
    const overrides = new Overrides({ now: () => now, wallNow: () => 1_000 });
    const group = new Group({ name, now: () => now, isGrouped });
    group.carry(overrides);
    return { group, overrides };
  });
  for (const { group } of members) {
    group.onChange(() => {
      messages.push(group.id);
      const bytes = group.write();
      for (const other of members) if (other.group !== group) other.group.read(bytes);
    });
  }
  // They have listened for long enough to speak of their own accord only when something is under way.
  now = 10_000;
  return { members, messages };
}

test("an operator's word, and its end, go out at once and are not echoed", () => {
  const { members, messages } = membersOf(["a", "b", "c"], true);
  const [a, b, c] = members as [Member, Member, Member];
  a.overrides.set("gpu", "forcedOpen", 60_000, "ann", "a new driver");
  assert.deepEqual(messages, [a.group.id]);
  assert.equal(b.overrides.find("gpu")?.who, "ann");
  assert.equal(c.overrides.find("gpu")?.mode, "forcedOpen");
  c.overrides.withdraw("gpu", "bob", "done");
  assert.deepEqual(messages, [a.group.id, c.group.id]);
  for (const { overrides } of members) assert.equal(overrides.find("gpu"), undefined);
});

test("nothing is sent where every gateway stands alone", () => {
  const { members, messages } = membersOf(["a"], false);
  members[0]?.overrides.set("gpu", "disabled", 60_000, "ann", "a test");
  assert.deepEqual(messages, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { Membership, type Names } from "../../../extproc/peers/membership.js";

/** Names that can be changed; undefined can't be resolved. */
function names(records: Record<string, readonly string[] | undefined>): Names {
  const answer = async (name: string) => {
    const found = records[name];
    if (found === undefined) throw new Error(`ENOTFOUND ${name}`);
    return found;
  };
  return {
    addressesOf: answer,
    srv: async (name) => (await answer(name)).map((text) => ({ name: text, port: 7000 })),
  };
}

function membership(settings: { members?: string[]; srv?: string }, records: Parameters<typeof names>[0]) {
  const lines: { msg: string; name: string }[] = [];
  const log = pino({}, { write: (text: string) => lines.push(JSON.parse(text)) });
  const given = { members: settings.members ?? [], srv: settings.srv };
  return { it: new Membership(given, log, names(records)), lines };
}

test("addresses are taken as they are, names as all that they stand for, each once", async () => {
  const members = ["10.0.0.1:7946", "[fd00::1]:7946", "pods:7946", "also:7946"];
  const { it } = membership({ members }, { pods: ["10.0.0.1", "10.0.0.2", "fd00::2"], also: ["10.0.0.2"] });
  assert.deepEqual([...it.addresses], []);
  await it.refresh();
  const expected = ["10.0.0.1:7946", "[fd00::1]:7946", "10.0.0.2:7946", "[fd00::2]:7946"];
  assert.deepEqual([...it.addresses], expected);
});

test("SRV records tell hosts, which are resolved, and ports", async () => {
  const { it } = membership({ srv: "_gossip._tcp" }, { "_gossip._tcp": ["a", "10.0.0.9"], a: ["10.0.0.1"] });
  await it.refresh();
  assert.deepEqual([...it.addresses], ["10.0.0.1:7000", "10.0.0.9:7000"]);
});

test("a name that can't be resolved keeps what it had, is told once, and once when it is back", async () => {
  const records: Record<string, string[] | undefined> = { pods: ["10.0.0.1"], other: ["10.0.0.5"] };
  const { it, lines } = membership({ members: ["pods:1", "other:1"] }, records);
  await it.refresh();
  records.pods = undefined;
  records.other = ["10.0.0.6"];
  await it.refresh();
  await it.refresh();
  assert.deepEqual([...it.addresses], ["10.0.0.1:1", "10.0.0.6:1"]);
  records.pods = [];
  await it.refresh();
  assert.deepEqual([...it.addresses], ["10.0.0.6:1"]);
  assert.deepEqual(
    lines.map(({ msg, name }) => `${msg}: ${name}`),
    ["peers: name can't be resolved: pods:1", "peers: name is resolved again: pods:1"],
  );
});

test("a name with a thousand addresses gives 64", async () => {
  const many = Array.from({ length: 1000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  const { it } = membership({ members: ["pods:1"], srv: "srv" }, { pods: many, srv: many });
  await it.refresh();
  assert.equal(it.addresses.size, 64);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Members } from "../../../extproc/peers/members.js";
import type { PeerMessage } from "../../../extproc/peers/message.js";
import { Simulation } from "./support/simulation.js";

const told = (member: string, sequence: number, uptimeMs = 0): PeerMessage => {
  return { member, name: member.split("/")[0] ?? "", sequence, uptimeMs, backends: [], overrides: [] };
};
const idsOf = (members: Members, now: number): string[] => members.live(now).map(({ id }) => id);

test("a member counts for 3 s after its last message, and old messages are none", () => {
  const members = new Members();
  assert.equal(members.take(told("a/1", 5), 0), true);
  assert.equal(members.take(told("a/1", 5), 2000), false);
  assert.equal(members.take(told("a/1", 4), 2000), false);
  assert.deepEqual(idsOf(members, 3000), ["a/1"]);
  assert.deepEqual(idsOf(members, 3001), []);
  assert.equal(members.take(told("a/1", 6), 9000), true);
  assert.deepEqual(idsOf(members, 9000), ["a/1"]);
});

test("a new start takes its predecessor's place at once; two of one name that both speak are two", () => {
  const members = new Members();
  members.take(told("a/1", 5), 0);
  members.take(told("a/2", 1), 100);
  assert.deepEqual(idsOf(members, 100), ["a/2"]);
  members.take(told("a/1", 6), 200);
  assert.deepEqual(idsOf(members, 200), ["a/1", "a/2"]);
});

test("holds 256 members, and makes room by those that are gone", () => {
  const members = new Members();
  for (let i = 0; i < 256; i++) assert.equal(members.take(told(`${i}/1`, 1), 0), true);
  assert.equal(members.take(told("late/1", 1), 100), false);
  assert.equal(members.take(told("late/1", 2), 5000), true);
  assert.equal(members.all().length, 256);
});

const failsFor = (count: number, untilMs: number) => (gateway: string, now: number) =>
  now > 8000 && now < untilMs && Number(gateway.slice(1)) < count;

test("a gateway that joins while the backend is open for all is opened, and in the ramp too", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const isFailing = failsFor(5, 10_000);
    const simulation = new Simulation({ seed, gateways: 7, isFailing }).run(11_000);
    simulation.stopEnvoy(6);
    const joined = simulation.startEnvoy(6);
    simulation.run(2000);
    assert.equal(joined.record.state, "OPEN");
    while (!simulation.states().some((state) => state.startsWith("HALF_OPEN "))) simulation.run(100);
    const isEarly = simulation.states().filter((state) => state.startsWith("HALF_OPEN ")).length < 7;
    assert.ok(isEarly);
    simulation.stopEnvoy(5);
    const late = simulation.startEnvoy(5);
    simulation.run(1500);
    assert.notEqual(late.record.state, "CLOSED", `seed ${seed}`);
    simulation.run(60_000);
    assert.deepEqual(new Set(simulation.states()), new Set(["CLOSED"]));
    assert.deepEqual(simulation.backend.faults, []);
  }
});

test("a gateway that an operator has forced neither votes nor is moved", () => {
  const simulation = new Simulation({ seed: 4, gateways: 5, isFailing: failsFor(2, 1e9) }).run(6000);
  for (const { record } of simulation.envoys.slice(2, 4)) record.mode = "forcedClosed";
  simulation.run(6000);
  // Two of the three that go by what they see.
  assert.deepEqual(simulation.states(), ["OPEN", "OPEN", "CLOSED", "CLOSED", "OPEN"]);
});

test("one gateway with a broken way to the backend does not keep the others from it", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const isFailing = (gateway: string, now: number) => now > 8000 && (now < 12_000 || gateway === "g0");
    const simulation = new Simulation({ seed, gateways: 7, isFailing }).run(8000);
    let closedAtMs: number | undefined;
    for (let ms = 0; ms < 300_000 && closedAtMs === undefined; ms += 500) {
      simulation.run(500);
      const others = simulation.states().slice(1);
      if (ms > 6000 && others.every((state) => state === "CLOSED")) closedAtMs = ms;
    }
    assert.ok(closedAtMs !== undefined, `seed ${seed}`);
  }
});

test("an operator's reset closes it everywhere", () => {
  const simulation = new Simulation({ seed: 6, gateways: 7, isFailing: failsFor(7, 11_000) }).run(12_000);
  assert.deepEqual(new Set(simulation.states()), new Set(["OPEN"]));
  assert.equal(simulation.services[2]?.group?.reset("gpu"), true);
  assert.equal(simulation.services[2]?.group?.reset("no such"), false);
  simulation.run(2500);
  assert.deepEqual(new Set(simulation.states()), new Set(["CLOSED"]));
  assert.equal(simulation.envoys[0]?.record.cause, "OPERATOR_RESET");
});

test("two Envoys at one service are two voters, and one of them probes", () => {
  const isFailing = (_: string, now: number) => now > 8000 && now < 20_000;
  const options = { gateways: 1, envoysPerService: 2, isFailing };
  for (let seed = 1; seed <= 10; seed++) {
    const simulation = new Simulation({ seed, ...options }).run(90_000);
    assert.deepEqual(simulation.states(), ["CLOSED", "CLOSED"]);
    assert.deepEqual(simulation.backend.faults, []);
  }
});

test("all Envoys of a service that is alone keep their state through its restarts", () => {
  const isFailing = (_: string, now: number) => now > 8000 && now < 20_000;
  for (let seed = 1; seed <= 10; seed++) {
    const simulation = new Simulation({ seed, gateways: 1, envoysPerService: 3, isFailing }).run(9000);
    for (let i = 0; i < 3; i++) {
      simulation.stopService(0);
      simulation.run(500 + seed * 300).startService(0);
      simulation.run(6000);
    }
    simulation.run(90_000);
    assert.deepEqual(new Set(simulation.states()), new Set(["CLOSED"]));
    assert.deepEqual(simulation.backend.faults, []);
  }
});

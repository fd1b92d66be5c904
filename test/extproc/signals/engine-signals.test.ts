import assert from "node:assert/strict";
import { test } from "node:test";
import { type Logger, pino } from "pino";
import type { Dns } from "../../../extproc/signals/dns.js";
import type { EngineFigures } from "../../../extproc/signals/engine-metrics.js";
import { EngineSignals } from "../../../extproc/signals/engine-signals.js";
import { type Page, PageError } from "../../../extproc/signals/page-reader.js";
import { type SignalsSettings, signalsSettings } from "../../../extproc/signals/settings.js";
import type { Gateway } from "../../../extproc/sync/contract.js";

type Told = Partial<EngineFigures> | "fails" | "hangs";

const gateway: Gateway = { process: "p", node: "n", policy: "demo" };
const report = { name: "gpu" } as Parameters<EngineSignals["advise"]>[1];

/** Engines by address that tell what they are told to, under a clock of the test's. */
class Fleet {
  nowMs = 100_000;
  readonly told = new Map<string, Told>();
  readonly asked = new Map<string, number>();
  readonly closed: string[] = [];
  readonly lines: { level: number; msg: string; endpoint?: string; problem?: string }[] = [];
  addresses: string[] = ["10.0.0.1"];
  readonly signals: EngineSignals;

  constructor(
    backends: SignalsSettings["backends"] | object = { gpu: { metrics: "http://gpu:1/", resolve: "a" } },
  ) {
    const log: Logger = pino(
      { level: "info" },
      { write: (line: string) => void this.lines.push(JSON.parse(line)) },
    );
    const dns: Dns = {
      resolve4: async () => this.addresses,
      resolve6: async () => [],
      resolveSrv: async () => [],
      lookup: async () => this.addresses,
      close: () => {},
    };
    const open = ({ name }: { name: string }): Page => ({
      read: () => this.read(name.replace(/:1$/, "")),
      close: () => void this.closed.push(name.replace(/:1$/, "")),
    });
    this.signals = new EngineSignals(signalsSettings.parse({ backends }), log, {
      now: () => this.nowMs,
      dns,
      open,
    });
  }

  async pass(ms: number): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs += 50;
      this.signals.ask();
      await new Promise(setImmediate);
    }
  }

  get gpu() {
    return this.signals.advise(gateway, report).signals;
  }

  get messages(): string[] {
    return this.lines.map(({ msg }) => msg);
  }

  private read(name: string): Promise<EngineFigures> {
    this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
    const told = this.told.get(name) ?? "fails";
    if (told === "hangs") return new Promise(() => {});
    if (told === "fails") return Promise.reject(new PageError("answered status 500"));
    return Promise.resolve({ kvCacheUse: undefined, waiting: undefined, ...told });
  }
}

async function fleetOf(told: Record<string, Told>, backends?: object): Promise<Fleet> {
  const fleet = new Fleet(backends);
  fleet.addresses = Object.keys(told);
  for (const [name, page] of Object.entries(told)) fleet.told.set(name, page);
  await fleet.signals.find();
  return fleet;
}

test("nothing was read yet: not fresh, nothing known", async () => {
  const fleet = await fleetOf({ a: "hangs" });
  assert.deepEqual(fleet.gpu, { isFresh: false, isWhole: false, isQueueLong: false });
  assert.deepEqual(fleet.signals.advise(gateway, { ...report, name: "other" }), {});
});

test("a use is known with the first page, and whole when 5 s are covered", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.9, waiting: 2 } });
  await fleet.pass(1_000);
  assert.deepEqual(fleet.gpu, {
    isFresh: true,
    isWhole: false,
    isQueueLong: false,
    kvCacheUse: 0.9,
    waiting: 2,
  });
  await fleet.pass(5_000);
  assert.equal(fleet.gpu?.isWhole, true);
  fleet.told.set("a", { kvCacheUse: 0.2, waiting: 8 });
  await fleet.pass(4_000);
  assert.equal(fleet.gpu?.kvCacheUse, 0.9);
  assert.equal(fleet.gpu?.isQueueLong, true);
  await fleet.pass(2_000);
  assert.deepEqual(fleet.gpu, {
    isFresh: true,
    isWhole: true,
    isQueueLong: true,
    kvCacheUse: 0.2,
    waiting: 8,
  });
});

test("of several engines the worst counts, of those that answer", async () => {
  const fleet = await fleetOf({
    a: { kvCacheUse: 0.2, waiting: 1 },
    b: { kvCacheUse: 0.8, waiting: 0 },
    c: { waiting: 7 },
    d: "fails",
    e: "hangs",
  });
  await fleet.pass(6_000);
  assert.deepEqual(fleet.gpu, {
    isFresh: true,
    isWhole: true,
    isQueueLong: false,
    kvCacheUse: 0.8,
    waiting: 7,
  });
  assert.equal(fleet.asked.get("e"), 1);
  assert.ok((fleet.asked.get("d") ?? 0) >= 6);
});

test("an engine that is gone from DNS counts no more at once, and is asked no more", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.2 }, b: { kvCacheUse: 0.8 } });
  await fleet.pass(6_000);
  fleet.addresses = ["a"];
  await fleet.signals.find();
  assert.equal(fleet.gpu?.kvCacheUse, 0.2);
  assert.equal(fleet.gpu?.isWhole, true);
  assert.deepEqual(fleet.closed, ["b"]);
  const before = fleet.asked.get("b");
  await fleet.pass(2_000);
  assert.equal(fleet.asked.get("b"), before);
});

test("an engine that comes and goes does not keep the others' window from being whole", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.2 }, b: { kvCacheUse: 0.3 } });
  for (let time = 0; time < 3; time++) {
    fleet.told.set("b", "fails");
    await fleet.pass(4_000);
    fleet.told.set("b", { kvCacheUse: 0.3 });
    await fleet.pass(1_000);
  }
  assert.equal(fleet.gpu?.isWhole, true);
  assert.equal(fleet.gpu?.kvCacheUse, 0.3);
});

test("silence: not whole after 2.5 s, not fresh and unknown after 5 s, told once, and told when it is over", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.5, waiting: 9 } });
  await fleet.pass(6_000);
  fleet.told.set("a", "fails");
  await fleet.pass(3_500);
  assert.equal(fleet.gpu?.isWhole, false);
  assert.equal(fleet.gpu?.isFresh, true);
  await fleet.pass(20_000);
  assert.deepEqual(fleet.gpu, { isFresh: false, isWhole: false, isQueueLong: false });
  fleet.told.set("a", { kvCacheUse: 0.5, waiting: 9 });
  await fleet.pass(20_000);
  assert.deepEqual(fleet.messages, [
    "metrics can't be read, what they tell is unknown",
    "metrics tell everything again",
  ]);
  const { level, endpoint, problem } = fleet.lines[0] ?? {};
  assert.deepEqual([level, endpoint, problem], [40, "a:1", "answered status 500"]);
});

test("a use that a page tells no more is unknown after 5 s, while the page is fresh; told once", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.95, waiting: 0 } });
  await fleet.pass(6_000);
  fleet.told.set("a", { waiting: 0 });
  await fleet.pass(4_000);
  assert.equal(fleet.gpu?.kvCacheUse, 0.95);
  await fleet.pass(20_000);
  assert.deepEqual(fleet.gpu, { isFresh: true, isWhole: false, isQueueLong: false, waiting: 0 });
  assert.equal(fleet.messages.length, 1);
  assert.match(fleet.messages[0] ?? "", /^metrics tell no KV-cache use any more: unknown/);
});

test("figures that a page never had are told once, and only the missing one", async () => {
  for (const [told, message] of [
    [{ waiting: 1 }, /^metrics tell no KV-cache use that we know/],
    [{ kvCacheUse: 0.1 }, /^metrics tell no waiting requests that we know/],
    [{}, /^metrics tell no figure that we know/],
  ] as const) {
    const fleet = await fleetOf({ a: told });
    await fleet.pass(30_000);
    assert.equal(fleet.gpu?.isFresh, true);
    assert.equal(fleet.messages.length, 1);
    assert.match(fleet.messages[0] ?? "", message);
  }
});

test("a page that comes and goes each second is told about every 10 s at most", async () => {
  const fleet = await fleetOf({ a: "fails" });
  for (let second = 0; second < 60; second++) {
    fleet.told.set("a", second % 2 === 0 ? "fails" : { kvCacheUse: 0.1, waiting: 1 });
    await fleet.pass(1_000);
  }
  assert.ok(fleet.messages.length <= 7, `${fleet.messages.length} lines`);
});

test("engines are asked once a period each, spread over it, and not twice after a pause", async () => {
  const fleet = await fleetOf(
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`e${index}`, {}])),
  );
  await fleet.pass(1_000);
  const asked = () => [...fleet.asked.values()].reduce((sum, times) => sum + times, 0);
  let before = asked();
  for (let slot = 0; slot < 20; slot++) {
    await fleet.pass(50);
    assert.equal(asked() - before, 3);
    before = asked();
  }
  fleet.nowMs += 60_000;
  await fleet.pass(50);
  assert.equal(asked() - before, 60);
});

test("DNS that fails is told once, what it said last holds", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.2, waiting: 0 } });
  const { addresses } = fleet;
  Object.defineProperty(fleet, "addresses", {
    get() {
      throw Object.assign(new Error("queryA ETIMEOUT gpu"), { code: "ETIMEOUT" });
    },
    configurable: true,
  });
  for (let time = 0; time < 3; time++) await fleet.signals.find();
  await fleet.pass(1_000);
  assert.equal(fleet.gpu?.kvCacheUse, 0.2);
  assert.equal(fleet.messages.length, 1);
  Object.defineProperty(fleet, "addresses", { value: addresses });
  await fleet.signals.find();
  assert.deepEqual(fleet.messages.slice(1), ["where engines are is known again"]);
});

test("an engine whose host has another address is asked there", async () => {
  const fleet = await fleetOf({ a: { kvCacheUse: 0.2, waiting: 0 } }, { gpu: { metrics: "http://gpu:1" } });
  fleet.told.set("gpu/", { kvCacheUse: 0.4, waiting: 0 });
  await fleet.signals.find();
  assert.deepEqual(fleet.closed, []);
  fleet.addresses = ["b"];
  await fleet.signals.find();
  assert.equal(fleet.closed.length, 1);
  fleet.signals.close();
  assert.equal(fleet.closed.length, 2);
});

test("tells since when a backend's engines are silent, from the start and over engines that go", async () => {
  const fleet = new Fleet();
  const age = () => fleet.signals.ages()[0]?.[1] ?? Number.NaN;
  fleet.told.set("10.0.0.1", "fails");
  await fleet.signals.find();
  await fleet.pass(3_000);
  assert.equal(age(), 3_000, "none was read since the start");
  fleet.told.set("10.0.0.1", { waiting: 0 });
  await fleet.pass(2_000);
  assert.ok(age() <= 1_000, `${age()}`);
  fleet.addresses = ["10.0.0.2"];
  fleet.told.set("10.0.0.2", "hangs");
  await fleet.signals.find();
  await fleet.pass(20_000);
  assert.ok(age() >= 20_000 && age() <= 21_000, `${age()}`);
});

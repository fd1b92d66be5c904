import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MAX_OVERRIDES, Overrides, TooManyOverridesError } from "../../../extproc/control/overrides.js";
import type { Gateway, Override } from "../../../extproc/sync/contract.js";
import { report } from "../support/control.js";

const GATEWAY: Gateway = { process: "a1", node: "envoy-1", policy: "demo" };

class Service {
  nowMs: number;
  readonly overrides: Overrides;

  /** `startMs`: where its monotonic clock begins. */
  constructor(
    startMs: number,
    public wallMs = 1_800_000_000_000,
  ) {
    this.nowMs = startMs;
    this.overrides = new Overrides({ now: () => this.nowMs, wallNow: () => this.wallMs });
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.wallMs += ms;
  }

  told(backend = "gpu"): Override | undefined {
    return this.overrides.advise(GATEWAY, report(backend)).override;
  }

  hear(override: Override, backend = "gpu"): void {
    this.overrides.observe(GATEWAY, [report(backend, { override })]);
  }
}

const word = (changes: Partial<Override> = {}): Override => ({
  mode: "forcedOpen",
  remainingMs: 60_000,
  version: 5,
  isWithdrawn: false,
  who: "ada",
  why: "driver update",
  ...changes,
});

test("a word is told to every gateway, with what is left of it, and ends by itself", () => {
  const service = new Service(500);
  const changes: string[] = [];
  service.overrides.onChange((change) => changes.push(change));
  service.overrides.set("gpu", "forcedOpen", 10_000, "ada", "driver update");
  assert.equal(service.overrides.isBusy, true);
  service.pass(4_000);
  assert.equal(service.overrides.isBusy, false);
  assert.equal(service.told()?.mode, "forcedOpen");
  assert.equal(service.told()?.remainingMs, 6_000);
  assert.equal(service.told("other"), undefined);
  service.pass(6_000);
  assert.equal(service.told(), undefined);
  assert.deepEqual(service.overrides.list(), []);
  assert.deepEqual(changes, ["set", "ended"]);
});

test("a later word takes the place of an earlier one, with a higher version", () => {
  const service = new Service(500);
  const first = service.overrides.set("gpu", "forcedOpen", 10_000, "ada", "a");
  const second = service.overrides.set("gpu", "disabled", 10_000, "bob", "b");
  assert.ok(second.version > first.version);
  assert.equal(service.told()?.mode, "disabled");
  assert.equal(service.overrides.list().length, 1);
});

test("a word that was taken back is told as such, also to who still has the old one", () => {
  const service = new Service(500);
  service.overrides.set("gpu", "forcedOpen", 3_600_000, "ada", "a");
  const old = service.told() as Override;
  service.overrides.withdraw("gpu", "bob", "done");
  assert.equal(service.told()?.isWithdrawn, true);
  assert.ok((service.told()?.version ?? 0) > old.version);
  assert.equal(service.overrides.find("gpu"), undefined);
  service.pass(1_800_000);
  service.hear({ ...old, remainingMs: 1_800_000 });
  assert.equal(service.told()?.isWithdrawn, true, "an old copy does not come to life again");
  assert.equal(service.overrides.withdraw("gpu", "bob", ""), undefined, "nothing is left to take back");
  service.pass(1_800_000);
  assert.equal(service.told(), undefined);
});

test("words outlive the service: gateways give them back with what is left of them", () => {
  const before = new Service(77_777);
  before.overrides.set("gpu", "forcedOpen", 60_000, "ada", "driver update");
  before.pass(10_000);
  const kept = before.told() as Override;
  const after = new Service(3, before.wallMs + 2_000);
  after.hear({ ...kept, remainingMs: kept.remainingMs - 2_000 });
  const [held] = after.overrides.list();
  assert.deepEqual([held?.mode, held?.who, held?.why], ["forcedOpen", "ada", "driver update"]);
  assert.equal(after.told()?.remainingMs, 48_000);
  after.pass(48_000);
  assert.equal(after.told(), undefined);
});

test("a service that was just restarted outbids what it said before it has heard of it", () => {
  const before = new Service(500);
  const old = before.overrides.set("gpu", "forcedOpen", 60_000, "ada", "a");
  const after = new Service(3, before.wallMs + 1_500);
  after.overrides.set("gpu", "forcedClosed", 60_000, "bob", "b");
  after.hear(word({ version: old.version }));
  assert.equal(after.told()?.mode, "forcedClosed");
});

test("what others tell is bounded and made plain; nonsense is left out", () => {
  const service = new Service(500);
  service.hear(word({ who: `a\n\u001b[31m${"x".repeat(100)}`, why: "b\u0000\u2028".repeat(200) }));
  const told = service.told() as Override;
  assert.match(told.who, /^a {2}\[31mx+$/);
  assert.ok(told.who.length <= 64 && told.why.length <= 200 && !/[\p{Cc}\p{Zl}]/u.test(told.why));
  service.hear(word({ version: 0 }), "zero");
  service.hear(word({ version: 2 ** 60 }), "huge");
  service.hear(word({ remainingMs: 0 }), "over");
  service.hear(word(), "");
  service.hear(word(), "x".repeat(64));
  service.hear(word({ remainingMs: 10 ** 15 }), "long");
  assert.deepEqual(
    service.overrides.list().map(({ backend }) => backend),
    ["gpu", "long"],
  );
  assert.equal(service.told("long")?.remainingMs, 7 * 86_400_000);
});

test("there is room for 512 backends; what is over makes room", () => {
  const service = new Service(500);
  for (let index = 0; index < MAX_OVERRIDES; index++) {
    service.overrides.set(`b${index}`, "disabled", 1_000 + index, "ada", "a");
  }
  assert.throws(() => service.overrides.set("more", "disabled", 1_000, "ada", "a"), TooManyOverridesError);
  service.hear(word(), "heard");
  assert.equal(service.overrides.find("heard"), undefined);
  service.overrides.set("b7", "forcedOpen", 5_000, "ada", "a known one has its place");
  service.pass(1_000);
  service.overrides.set("more", "disabled", 1_000, "ada", "a");
  assert.equal(service.overrides.snapshot().length, MAX_OVERRIDES);
});

test("services that tell each other all they know agree, in any order and however often", () => {
  const shared = fc.record({
    backend: fc.constantFrom("gpu", "small", "public"),
    version: fc.integer({ min: 1, max: 1_000_000 }),
    mode: fc.constantFrom("forcedOpen", "forcedClosed", "disabled"),
    isWithdrawn: fc.boolean(),
    remainingMs: fc.integer({ min: 1_000, max: 100_000 }),
    who: fc.string({ maxLength: 80 }),
    why: fc.string({ maxLength: 300 }),
  });
  const words = fc.uniqueArray(shared, { maxLength: 20, selector: ({ version }) => version });
  fc.assert(
    fc.property(words, fc.array(fc.nat()), (told, order) => {
      const one = new Service(1);
      const other = new Service(999_999);
      one.overrides.merge(told);
      for (const index of order) other.overrides.merge(told.slice(index % (told.length + 1)));
      other.overrides.merge([...told].reverse());
      const byName = (service: Service) =>
        service.overrides.snapshot().sort((a, b) => (a.backend < b.backend ? -1 : 1));
      assert.deepEqual(byName(one), byName(other));
      for (const { backend, version } of told) {
        const known = one.overrides.snapshot().find((each) => each.backend === backend);
        assert.ok((known?.version ?? 0) >= version);
      }
    }),
  );
});

test("a version that no clock gives can't keep operators out", () => {
  const service = new Service(0);
  const tenYears = 10 * 365 * 86_400_000;
  service.hear(word({ version: Number.MAX_SAFE_INTEGER - 1 }));
  service.hear(word({ version: service.wallMs + tenYears + 1 }));
  assert.equal(service.overrides.find("gpu"), undefined);
  service.hear(word({ version: service.wallMs + tenYears }));
  assert.equal(service.overrides.find("gpu")?.mode, "forcedOpen");
  const { version } = service.overrides.set("gpu", "forcedClosed", 60_000, "ada", "it is well");
  const other = new Service(0, service.wallMs + 1);
  other.hear({ ...word(), mode: "forcedClosed", version });
  assert.equal(other.overrides.find("gpu")?.mode, "forcedClosed", "others take what outbids it");
});

test("a word that was learned is known by who told it", () => {
  const service = new Service(0);
  service.hear(word());
  assert.equal(service.overrides.find("gpu")?.from, "envoy-1");
  service.overrides.merge([{ ...word({ version: 6 }), backend: "gpu" }]);
  assert.equal(service.overrides.find("gpu")?.from, "another service");
  service.overrides.set("gpu", "forcedClosed", 60_000, "ada", "it is well");
  assert.equal(service.overrides.find("gpu")?.from, undefined);
});

test("what gateways tell leaves room for operators", () => {
  const service = new Service(0);
  for (let index = 0; index < MAX_OVERRIDES; index++) service.hear(word(), `junk${index}`);
  service.overrides.set("gpu", "forcedOpen", 60_000, "ada", "driver update");
  assert.equal(service.told()?.mode, "forcedOpen");
  service.hear(word(), "one more");
  assert.equal(service.told()?.mode, "forcedOpen");
  assert.equal(service.overrides.list().length, MAX_OVERRIDES);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { durationText } from "../../extproc/control/schemas.js";
import { EventReader } from "../../extproc/page/browser/event-stream.js";
import { duration, latency, listed, remaining } from "../../extproc/page/browser/format.js";
import { consequencesOf, durationProblem } from "../../extproc/page/browser/orders.js";
import { situationOf } from "../../extproc/page/browser/situation.js";
import { disagreeing, openingOf, servingTier, standingOf } from "../../extproc/page/browser/standing.js";
import {
  describeTrend,
  mergeTrends,
  minutesOf,
  trendOf,
  trendsPath,
} from "../../extproc/page/browser/trend.js";
import { backend, CHAINS, gateway, openBackend, transition, trends } from "./support/fixtures.js";

const chains = CHAINS.chains;
const open = openBackend("gpu");
const small = backend("small");
const last = backend("public");

test("durations are read at a glance, and a wait is never over too soon", () => {
  assert.equal(duration(59_999), "59 s");
  assert.equal(duration(130_000), "2 min 10 s");
  assert.equal(duration(7_200_000), "2 h");
  assert.equal(duration(187_200_000), "2 d 4 h");
  assert.equal(duration(-5), "0 s");
  assert.equal(remaining(1), "1 s");
  assert.equal(remaining(0), "now");
  assert.equal(latency(999), "999 ms");
  assert.equal(latency(1234), "1.2 s");
  assert.equal(listed(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
  assert.equal(listed(["a", "b"]), "a and b");
});

test("an event stream reads the same wherever it is cut", () => {
  const events = [1, 2, 3].map((id) => ({ id: String(id), data: `{"n":${id},"text":"ä: x"}` }));
  const text = `retry: 2000\n\n: alive\n\n${events.map(({ id, data }) => `id: ${id}\r\nevent: a\r\ndata: ${data}\r\n\r\n`).join("")}`;
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const reader = new EventReader();
      const places = [0, ...cuts.sort((a, b) => a - b), text.length];
      const read = places.slice(1).flatMap((end, index) => reader.push(text.slice(places[index], end)));
      assert.deepEqual(read, events);
    }),
  );
});

test("any text is an event stream or an error, never anything else", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (pieces) => {
      const reader = new EventReader();
      for (const event of pieces.flatMap((piece) => reader.push(piece)))
        assert.equal(typeof event.data, "string");
    }),
  );
  assert.throws(() => new EventReader().push("x".repeat(1_048_577)), /too long/);
});

test("the page's check of a duration is the service's", () => {
  const served = durationText(1000, 7 * 86_400_000, "wrong");
  const texts = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.integer({ min: 0, max: 900_000 }), fc.constantFrom("ms", "s", "m", "h", "d", "w"))
      .map(([n, unit]) => `${n}${unit}`),
  );
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(durationProblem(text) === undefined, served.safeParse(text).success, text);
    }),
  );
});

test("says first what callers get", () => {
  assert.equal(situationOf([], chains).tone, "unknown");
  assert.equal(situationOf([backend("gpu"), small, last], chains).headline, "All 3 backends serve");
  assert.deepEqual(pick([open, small, last]), ["bad", "gpu is Open", "gpu"]);
  const shut = (name: string) => openBackend(name);
  assert.deepEqual(pick([open, shut("small"), shut("public")]).slice(0, 2), ["down", "Nobody serves chat"]);
  const ramp = backend("gpu", { state: "HALF_OPEN", stage: 1 });
  assert.deepEqual(pick([ramp, small, last]), ["watch", "gpu is recovering", "gpu"]);
  const shadow = openBackend("gpu");
  const told = { ...shadow, mode: "shadow" as const };
  assert.match(String(pick([told, small, last])[1]), /shadow mode: callers still reach it/);
  const forced = backend("gpu", { mode: "forcedOpen" });
  assert.deepEqual(pick([forced, small, last]).slice(0, 2), ["watch", "gpu is held by hand"]);
});

function pick(backends: Parameters<typeof situationOf>[0]) {
  const { tone, headline, troubles } = situationOf(backends, chains);
  return [tone, headline, ...troubles.map(({ name }) => name)];
}

test("the first tier that lets callers through serves them", () => {
  const known = (...each: ReturnType<typeof backend>[]) => new Map(each.map((one) => [one.name, one]));
  const [chain] = chains;
  assert.ok(chain !== undefined);
  assert.equal(servingTier(chain, known(open, small, last)), 1);
  assert.equal(servingTier(chain, known(open, backend("small", { state: "HALF_OPEN" }), last)), 2);
  assert.equal(servingTier(chain, known(open)), -1);
  assert.equal(servingTier(chain, known({ ...open, mode: "forcedClosed" }, small)), 0);
  assert.equal(standingOf({ ...open, mode: "forcedClosed" }), "forcedClosed");
});

test("tells when gateways disagree, and what opened a row of openings first", () => {
  assert.equal(disagreeing(small), undefined);
  const split = {
    gateways: [gateway({ state: "OPEN" }), gateway({ process: "b" }), gateway({ process: "c" })],
  };
  assert.deepEqual(disagreeing(split), { open: 1, of: 3 });
  const entries = [
    transition(1, { cause: "FAILURE_RATE" }),
    transition(2, { from: "HALF_OPEN", to: "CLOSED" }),
    transition(3),
    transition(4, { from: "HALF_OPEN", cause: "PROBE_FAILED" }),
  ];
  assert.equal(openingOf("gpu", entries)?.id, 3);
});

test("says before an order what it does to callers", () => {
  const others = consequencesOf("open", "gpu", [backend("gpu"), small, last], chains);
  assert.match(others.join(" "), /Callers of chat are served by small/);
  const nobody = consequencesOf("open", "gpu", [backend("gpu"), openBackend("small")], chains);
  assert.match(nobody.join(" "), /will get errors/);
  const override = { backend: "gpu", mode: "disabled", remainingMs: 1, who: "ada", why: "a test" } as const;
  const spokenOf = [backend("gpu", {}, { override })];
  assert.match(
    consequencesOf("open", "gpu", spokenOf, chains).join(" "),
    /ada has said: “a test” \(disabled\)/,
  );
  assert.doesNotMatch(consequencesOf("withdraw", "gpu", spokenOf, chains).join(" "), /ada/);
});

test("a trend goes on by its new points, and says in words what it shows", () => {
  const known = trends(["gpu", "small"]);
  const [all] = known.backends;
  assert.ok(all !== undefined);
  const point = { permitted: 7, refused: 0, diverted: 0, success: 7, failure: 0, state: "OPEN" as const };
  const told = {
    ...known,
    endMs: known.endMs + 5000,
    backends: [
      { name: "gpu", points: [point] },
      { name: "new", points: [point] },
    ],
  };
  const merged = mergeTrends(known, told);
  assert.deepEqual(
    merged.backends.map(({ name, points }) => [name, points.length]),
    [
      ["gpu", 180],
      ["new", 180],
    ],
  );
  assert.deepEqual(merged.backends[0]?.points.slice(0, -1), all.points.slice(1));
  assert.equal(trendOf(merged, "new")?.points.length, 24);
  const trend = trendOf(merged, "gpu");
  assert.ok(trend !== undefined);
  assert.match(
    describeTrend(trend),
    /^Last 15 min: [\d,]+ requests let through, \d+ failed, .*Open for 1 min 40 s/,
  );
  assert.equal(minutesOf(trend).length, 15);
  assert.equal(minutesOf(trend)[0]?.state, "OPEN");
});

test("a page that was opened before the first gateway told anything gets the whole chart", () => {
  const all = trends(["gpu"]);
  const early = { ...all, backends: [] };
  assert.equal(trendsPath(undefined), "/v1/trends");
  assert.equal(trendsPath(early), "/v1/trends");
  assert.equal(mergeTrends(early, all).backends[0]?.points.length, 180);
  assert.equal(trendsPath(all), `/v1/trends?after=${all.endMs}`);
});

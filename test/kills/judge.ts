import type { Trial } from "../fleet/scenario.js";
import { readAccessLog } from "./access-log.js";
import { judgeBackend, seenBy } from "./backend-laws.js";
import { unexpectedLines } from "./logs.js";
import type { Played } from "./play.js";
import { growth } from "./samples.js";
import { letters, type System } from "./system.js";
import { type Reason, type Unserved, unservedOf } from "./unserved.js";

/** After so many pools and heaps have settled, and each service has loaded the vocabulary that it counts by. */
const settledSamples = 12;
/** From fewer nothing can be told. */
const leastSamples = 9;
/** Normal are 11 MB at most, since Node's heaps breathe; a leak of each request or round adds more. */
const mostGrowthMb = 30;
/** Normal are 50 at most: Envoy keeps a connection for each call that it ever had at once. */
const mostMoreDescriptors = 100;

/** Everything that must hold, whatever was killed. The system is at its end by then. */
export function judge(system: System, played: Played, trial: Trial): Map<Reason, number> {
  const { a, b } = system.gateways;
  const calls = { a: a.traffic.calls, b: b.traffic.calls };
  const accessed = readAccessLog(system.accessLogFile);
  const unserved = letters.flatMap((letter) => unservedOf(letter, calls[letter], played.strikes, accessed));
  trial.note("calls", calls.a.length + calls.b.length);
  trial.note("cut by a kill", unserved.filter(({ reason }) => reason).length);
  const unexplained = unserved.filter(({ reason }) => reason === undefined);
  trial.check(
    "every caller is answered whole, but for live streams of what was killed",
    calls.a.length > 0 && calls.b.length > 0 && unexplained.length === 0,
    unexplained
      .slice(0, 5)
      .map((each) => shown(each, accessed.get(each.call.credential)?.details))
      .join("; ") || "all",
  );
  for (const name of ["gpu", "small"] as const) {
    const seen = seenBy(name, system.arrivalsFile(name), played.strikes);
    const { strikes, splits } = played;
    const transitions = { a: a.transitionsOf(name), b: b.transitionsOf(name) };
    judgeBackend(name, seen, { strikes, splits, transitions }, trial);
  }
  judgeSamples(played, trial);
  const lines = unexpectedLines(system.victims, played.strikes);
  trial.check(
    "logs tell of nothing else",
    lines.length === 0,
    lines.slice(0, 60).join("\n      ") || "nothing",
  );
  return countReasons(unserved);
}

function judgeSamples({ samples }: Played, trial: Trial): void {
  for (const [name, all] of samples.byName) {
    const settled = all.slice(settledSamples);
    if (settled.length < leastSamples) continue;
    const [before, after] = growth(settled, "megabytes");
    const isFlat = after - before <= mostGrowthMb;
    trial.check(`memory of ${name} is flat`, isFlat, `${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`);
    const [open, openAfter] = growth(settled, "descriptors");
    const isBounded = openAfter - open <= mostMoreDescriptors;
    trial.check(`descriptors of ${name} are bounded`, isBounded, `${open}, then ${openAfter}`);
  }
}

function shown({ call, letter }: Unserved, details = ""): string {
  const { id, verdict, backend, startMs, endMs, detail } = call;
  const span = `${Math.round(startMs)} to ${Math.round(endMs)}`;
  return `${id} at gateway-${letter}, ${span}: ${verdict} by ${backend || "nobody"}, ${detail} ${details}`;
}

function countReasons(unserved: readonly Unserved[]): Map<Reason, number> {
  const counts = new Map<Reason, number>();
  for (const { reason } of unserved) if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

import type { Trial } from "../fleet/scenario.js";
import { readAccessLog } from "./access-log.js";
import { judgeBackend } from "./backend-laws.js";
import { unexpectedLines } from "./logs.js";
import type { Played } from "./play.js";
import { growth } from "./samples.js";
import { letters, type System } from "./system.js";
import { type Reason, type Unserved, unservedOf } from "./unserved.js";

/** Pools and heaps settle, and a service loads a vocabulary once it counts; a leak of each request or round adds more. */
const mostGrowthMb = 100;
const mostMoreDescriptors = 400;
/** From fewer nothing can be told. */
const leastSamples = 9;

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
  const story = { strikes: played.strikes, splits: played.splits, calls };
  judgeBackend("gpu", system, story, trial);
  judgeBackend("small", system, story, trial);
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
    if (all.length < leastSamples) continue;
    const [before, after] = growth(all, "megabytes");
    const isFlat = after - before <= mostGrowthMb;
    trial.check(`memory of ${name} is flat`, isFlat, `${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`);
    const [open, openAfter] = growth(all, "descriptors");
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

// What backends saw: silence while they are Open, one probe at a time, few canaries.
import { mostAtOnce } from "../fleet/gpu.js";
import type { Trial } from "../fleet/scenario.js";
import type { Transition } from "../fleet/transitions.js";
import { type Arrived, readArrivals } from "./arrivals.js";
import { canaryCap } from "./gateway-config.js";
import type { Strike } from "./strikes.js";
import { type BackendName, type Letter, letters, type System, sourceAddresses } from "./system.js";
import type { Call } from "./traffic.js";

/** A request that was let through before its gateway opened may still be on its way. */
const onItsWayMs = 500;
/** What a stopped backend was sent is seen as soon as it goes on, with nobody waiting any more. */
const thawMs = 2_000;

interface Seen extends Arrived {
  readonly letter: Letter;
}

/** A time in which the gateways can't agree on who probes. */
export interface Split {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Story {
  readonly strikes: readonly Strike[];
  readonly splits: readonly Split[];
  readonly calls: Readonly<Record<Letter, readonly Call[]>>;
}

export function judgeBackend(name: BackendName, system: System, story: Story, trial: Trial): void {
  const seen = seenBy(name, system, story.strikes);
  const transitionsOf = (letter: Letter): Transition[] =>
    system.gateways[letter].transitions[name].flatMap((log) => log.refresh());
  const transitions = { a: transitionsOf("a"), b: transitionsOf("b") };
  const strays = seen.filter((each) => isStray(each, name, transitions[each.letter], story));
  const told = strays.slice(0, 3).map(({ letter, atMs, user }) => {
    const state = lastBefore(atMs, transitions[letter]);
    return `${user} from gateway-${letter} ${Math.round(atMs - (state?.atMs ?? 0))} ms after ${state?.cause}`;
  });
  trial.note(`requests to ${name}`, seen.length);
  trial.check(`no request to ${name} while it is Open`, strays.length === 0, told.join(", ") || "none");

  const live = seen.filter((each) => !isThawed(each, name, story.strikes));
  const probes = live.filter(({ isProbe }) => isProbe);
  trial.note(`probes of ${name}`, probes.length);
  atOnce(`probes of ${name}`, probes, 1, story, trial);
  const canaries = live.filter((each) => isCanary(each, transitions[each.letter]));
  atOnce(`canaries of ${name}`, canaries, canaryCap, story, trial);
}

/** For each gateway always; for both together while they hear each other. */
function atOnce(what: string, seen: readonly Seen[], most: number, story: Story, trial: Trial): void {
  const together = seen.filter(({ atMs, endMs }) => {
    return !story.splits.some(({ fromMs, toMs }) => atMs <= toMs && endMs >= fromMs);
  });
  const counts = letters.map((letter) => mostAtOnce(seen.filter((each) => each.letter === letter)));
  const all = mostAtOnce(together);
  const isKept = Math.max(all, ...counts) <= most;
  trial.check(
    `at most ${most} of ${what} at once`,
    isKept,
    `${counts.join(" and ")}, ${all} while they hear each other`,
  );
}

function seenBy(name: BackendName, system: System, strikes: readonly Strike[]): Seen[] {
  const kills = strikes.filter(({ act, victim }) => act === "kill" && victim === name);
  return readArrivals(system.arrivalsFile(name)).map((arrived) => {
    const letter = arrived.from.endsWith(sourceAddresses.b) ? "b" : "a";
    const killedMs = kills.find(({ atMs }) => atMs >= arrived.atMs)?.atMs ?? Number.POSITIVE_INFINITY;
    return { ...arrived, letter, endMs: Math.min(arrived.endMs, killedMs) };
  });
}

function isStray(seen: Seen, name: BackendName, transitions: readonly Transition[], story: Story): boolean {
  const state = lastBefore(seen.atMs, transitions);
  if (seen.isProbe || state?.to !== "OPEN" || seen.atMs - state.atMs <= onItsWayMs) return false;
  if (!isThawed(seen, name, story.strikes)) return true;
  // It was sent while the backend was stopped: what counts is whether it was Open already.
  const call = story.calls[seen.letter].findLast(
    ({ id, startMs }) => id === seen.user && startMs <= seen.atMs,
  );
  return call !== undefined && call.startMs - state.atMs > onItsWayMs;
}

function isThawed({ atMs, isWhole }: Seen, name: BackendName, strikes: readonly Strike[]): boolean {
  if (isWhole) return false;
  return strikes.some(
    (strike) =>
      strike.act === "stop" && strike.victim === name && atMs >= strike.atMs && atMs <= strike.endMs + thawMs,
  );
}

function isCanary(seen: Seen, transitions: readonly Transition[]): boolean {
  return !seen.isProbe && lastBefore(seen.atMs, transitions)?.to === "HALF_OPEN";
}

function lastBefore(atMs: number, transitions: readonly Transition[]): Transition | undefined {
  return transitions.findLast((each) => each.atMs <= atMs);
}

// What backends saw: silence while they are Open, one probe at a time, few canaries.
import { mostAtOnce } from "../fleet/gpu.js";
import type { Trial } from "../fleet/scenario.js";
import type { Transition } from "../fleet/transitions.js";
import { type Arrived, readArrivals } from "./arrivals.js";
import { answerTimeoutMs, canaryCap, firstTokenTimeoutMs } from "./gateway-config.js";
import type { Strike } from "./strikes.js";
import { type BackendName, type Letter, letters, sourceAddresses } from "./system.js";

/** Mostly it is a millisecond at most, but workers that open and close at once may be wrong for 250: docs/decisions/0036. */
const onItsWayMs = 300;

export interface Seen extends Arrived {
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
  /** Of this backend, by gateway. */
  readonly transitions: Readonly<Record<Letter, readonly Transition[]>>;
}

export function judgeBackend(name: BackendName, seen: readonly Seen[], story: Story, trial: Trial): void {
  const { transitions } = story;
  const strays = seen.filter((each) => isStray(each, transitions[each.letter]));
  const told = strays.slice(0, 3).map(({ letter, sentMs, user }) => {
    const state = lastBefore(sentMs, transitions[letter]);
    return `${user} from gateway-${letter} ${Math.round(sentMs - (state?.atMs ?? 0))} ms after ${state?.cause}`;
  });
  const unstamped = seen.filter(({ isProbe, sentMs, atMs }) => !isProbe && sentMs === atMs);
  trial.note(`requests to ${name}`, seen.length);
  trial.check(
    `requests to ${name} tell when they were sent`,
    unstamped.length === 0,
    `${unstamped.length} do not`,
  );
  trial.note(`ms from an opening of ${name} to the last request`, latest(seen, transitions));
  trial.check(`no request to ${name} while it is Open`, strays.length === 0, told.join(", ") || "none");

  const live = seen.filter((each) => !wasGivenUp(each, name, story.strikes));
  const probes = live.filter(({ isProbe }) => isProbe);
  trial.note(`probes of ${name}`, probes.length);
  atOnce(`probes of ${name}`, probes, 1, story, trial);
  const canaries = live.filter((each) => isCanary(each, transitions[each.letter]));
  trial.note(`canaries of ${name}`, canaries.length);
  atOnce(`canaries of ${name}`, canaries, canaryCap, story, trial);
}

/** All that came to a backend, whose process's kill is the end of what it had. */
export function seenBy(name: BackendName, file: string, strikes: readonly Strike[]): Seen[] {
  const kills = strikes.filter(({ act, victim }) => act === "kill" && victim === name);
  return readArrivals(file).map((arrived) => {
    const letter = arrived.from.endsWith(sourceAddresses.b) ? "b" : "a";
    const killedMs = kills.find(({ atMs }) => atMs >= arrived.atMs)?.atMs ?? Number.POSITIVE_INFINITY;
    return { ...arrived, letter, endMs: Math.min(arrived.endMs, killedMs) };
  });
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

/** What counts is when it was sent: a backend that was stopped reads it when it goes on. */
function isStray(seen: Seen, transitions: readonly Transition[]): boolean {
  return msWhileOpen(seen, transitions) > onItsWayMs;
}

function latest(seen: readonly Seen[], transitions: Story["transitions"]): number {
  return seen.reduce((most, each) => Math.max(most, msWhileOpen(each, transitions[each.letter])), 0);
}

/** How long after its gateway had opened a request was sent; 0 for one that was sent in another state, and for a probe. */
function msWhileOpen({ isProbe, sentMs }: Seen, transitions: readonly Transition[]): number {
  const state = lastBefore(sentMs, transitions);
  return !isProbe && state?.to === "OPEN" ? sentMs - state.atMs : 0;
}

function isCanary({ isProbe, sentMs }: Seen, transitions: readonly Transition[]): boolean {
  return !isProbe && lastBefore(sentMs, transitions)?.to === "HALF_OPEN";
}

/** Whether nobody waited any more when a backend that had been stopped read it. */
function wasGivenUp(seen: Seen, name: BackendName, strikes: readonly Strike[]): boolean {
  const { sentMs, atMs, letter } = seen;
  const meanwhile = strikes.filter((each) => each.atMs <= atMs && each.endMs >= sentMs);
  if (!meanwhile.some(({ act, victim }) => act === "stop" && victim === name)) return false;
  const patienceMs = seen.isProbe || seen.isStreamed ? firstTokenTimeoutMs : answerTimeoutMs;
  return atMs - sentMs > patienceMs || meanwhile.some((each) => each.atMs >= sentMs && hasCut(each, letter));
}

/** Whether what a gateway had sent has lost who waits for it. */
function hasCut({ act, victim }: Strike, letter: Letter): boolean {
  return act === "trap" ? letter === "a" : act === "kill" && victim === `gateway-${letter}`;
}

function lastBefore(ms: number, transitions: readonly Transition[]): Transition | undefined {
  return transitions.findLast(({ atMs }) => atMs <= ms);
}

import type { BackendView } from "../../control/schemas.js";
import { listed } from "./format.js";
import { admits, type Chain } from "./standing.js";

export type Action = "open" | "close" | "disable" | "reset" | "withdraw";

/** An operator's word, as it is sent. */
export interface Order {
  readonly backend: string;
  readonly action: Action;
  /** Of open, close and disable. */
  readonly lasts: string;
  readonly why: string;
  /** Empty: the service says it by the token, or does not know. */
  readonly who: string;
}

export interface ActionText {
  readonly action: Action;
  readonly name: string;
  readonly gist: string;
  readonly lasts: boolean;
}

export const ACTIONS: readonly ActionText[] = [
  { action: "open", name: "Open", gist: "callers go to the next tier", lasts: true },
  { action: "close", name: "Close", gist: "everything passes, triggers only report", lasts: true },
  { action: "disable", name: "Disable", gist: "everything passes, nothing is counted", lasts: true },
  {
    action: "reset",
    name: "Reset",
    gist: "Closed with an empty window, then the policy decides",
    lasts: false,
  },
];

export const WITHDRAW: ActionText = {
  action: "withdraw",
  name: "Withdraw",
  gist: "the policy holds again",
  lasts: false,
};

/** What an order does to callers, before it is given. */
export function consequencesOf(
  action: Action,
  name: string,
  backends: readonly BackendView[],
  chains: readonly Chain[],
): readonly string[] {
  return [...callersNotice(action, name, backends, chains), ...replaced(action, name, backends)];
}

/** Somebody else may have spoken while the dialog was open: the last word holds. */
function replaced(action: Action, name: string, backends: readonly BackendView[]): readonly string[] {
  const word = backends.find((backend) => backend.name === name)?.override;
  if (word === undefined || action === "withdraw" || action === "reset") return [];
  const why = word.why === "" ? "" : `: “${word.why}”`;
  return [`It takes the place of what ${word.who} has said${why} (${MODE_WORDS[word.mode]}).`];
}

const MODE_WORDS: Readonly<Record<BackendView["mode"], string>> = {
  enforce: "the breaker decides",
  shadow: "shadow",
  disabled: "disabled",
  forcedOpen: "forced open",
  forcedClosed: "forced closed",
};

function callersNotice(
  action: Action,
  name: string,
  backends: readonly BackendView[],
  chains: readonly Chain[],
): readonly string[] {
  switch (action) {
    case "open":
      return [
        ...chains
          .filter(({ tiers }) => tiers.includes(name))
          .map((chain) => whoTakesOver(chain, name, backends)),
        "Answers that are under way are finished. Nothing is probed until it ends.",
      ];
    case "close":
      return [
        `Every request reaches ${name}, however sick it is: its callers wait for time limits and failures before the next tier answers.`,
        "Triggers are only reported.",
      ];
    case "disable":
      return [
        `Every request reaches ${name}. Nothing is counted, reported or probed: as if there were no breaker.`,
      ];
    case "reset":
      return [
        `${name} gets its full traffic at once, without a probe and without canaries, on all gateways.`,
        "If it is still sick, callers' requests are what finds out.",
      ];
    case "withdraw":
      return [`The policy decides about ${name} again, from the state that the breaker had.`];
  }
}

function whoTakesOver({ name: chain, tiers }: Chain, name: string, backends: readonly BackendView[]): string {
  const others = tiers.filter(
    (tier) => tier !== name && backends.some((backend) => backend.name === tier && admits(backend)),
  );
  if (others.length === 0) return `No other tier of ${chain} takes requests: its callers will get errors.`;
  return `Callers of ${chain} are served by ${listed(others.slice(0, 1))}.`;
}

/** What is wrong with a duration, in words; undefined when nothing is. Like the service's own check. */
export function durationProblem(text: string): string | undefined {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const seconds = Number(number) * ({ ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }[unit ?? ""] ?? Number.NaN);
  if (seconds >= 1 && seconds <= 7 * 86_400) return undefined;
  return 'A duration from "1s" to "7d", like "15m".';
}

/** What was done, in one sentence. */
export function saidDone({ action, backend, lasts }: Order): string {
  const ends = ` for ${lasts}. Every gateway hears of it within two seconds.`;
  switch (action) {
    case "open":
      return `${backend} is forced open${ends}`;
    case "close":
      return `${backend} is forced closed${ends}`;
    case "disable":
      return `${backend} is disabled${ends}`;
    case "reset":
      return `${backend} is being reset: gateways hear of it within a second.`;
    case "withdraw":
      return `The override of ${backend} is withdrawn: the policy holds again.`;
  }
}

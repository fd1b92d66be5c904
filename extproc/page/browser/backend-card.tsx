import type { BackendView, EntryView, TrendsView } from "../../control/schemas.js";
import { Badge } from "./badge.js";
import { causeText } from "./causes.js";
import { Figures } from "./figures.js";
import { duration, remaining } from "./format.js";
import { GatewayList } from "./gateway-list.js";
import type { Action } from "./orders.js";
import { nextOf } from "./situation-panel.js";
import { disagreeing, openingOf, sinceMs, standingOf } from "./standing.js";
import { trendOf } from "./trend.js";
import { TrendFigure } from "./trend-figure.js";

interface Props {
  readonly backend: BackendView;
  /** Its place in the chain, from 1. */
  readonly tier: number | undefined;
  readonly isServing: boolean;
  /** Its figures stand in a card above. */
  readonly isBrief?: boolean;
  readonly entries: readonly EntryView[];
  readonly trends: TrendsView | undefined;
  readonly theme: number;
  readonly onControl: (backend: BackendView, action?: Action) => void;
}

export function BackendCard({ backend, tier, isServing, isBrief, entries, trends, theme, onControl }: Props) {
  const trend = trendOf(trends, backend.name);
  return (
    <article
      class={isBrief ? "card brief" : "card"}
      data-standing={standingOf(backend)}
      data-serving={isServing}
      data-backend={backend.name}
    >
      <header>
        {tier !== undefined && (
          <span class="tier" title={`tier ${tier}`}>
            <span class="hidden">Tier </span>
            {tier}
          </span>
        )}
        <h3>
          <bdi>{backend.name}</bdi>
        </h3>
        {isServing && <span class="serving">serves callers</span>}
        {backend.mode === "shadow" && <span class="mode">shadow</span>}
        <Badge backend={backend} />
      </header>
      {!isBrief && (
        <>
          <Why backend={backend} entries={entries} />
          <Figures backend={backend} />
          {trend !== undefined && <TrendFigure trend={trend} theme={theme} />}
          <footer>
            <GatewayList backend={backend} />
            <div class="controls">
              {backend.override !== undefined && (
                <button type="button" onKeyDown={onceHeld} onClick={() => onControl(backend, "withdraw")}>
                  Withdraw<span class="hidden"> the override of {backend.name}</span>
                </button>
              )}
              <button
                type="button"
                aria-haspopup="dialog"
                onKeyDown={onceHeld}
                onClick={() => onControl(backend)}
              >
                Control …<span class="hidden"> {backend.name}</span>
              </button>
            </div>
          </footer>
        </>
      )}
    </article>
  );
}

/** The Enter that gave an order comes back here with the focus while it is held: it would open the dialog anew. */
function onceHeld(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

const MODES: Readonly<Record<BackendView["mode"], string>> = {
  enforce: "the breaker decides",
  shadow: "in shadow mode it refuses nobody",
  disabled: "nothing is counted, everything passes",
  forcedOpen: "it refuses everything",
  forcedClosed: "it lets everything pass",
};

/** Why it stands so, what happens next, who said so, and whether gateways agree. */
function Why({ backend, entries }: { backend: BackendView; entries: readonly EntryView[] }) {
  const { override, state, mode, openings, waitRemainingMs } = backend;
  const split = disagreeing(backend);
  return (
    <div class="why">
      <p class={state === "CLOSED" ? "quiet" : ""}>
        {reasonOf(backend, entries)} for {duration(sinceMs(backend))}
        {state !== "CLOSED" && openings > 1 && `; opened ${openings} times in a row`}
      </p>
      {override !== undefined && (
        <p class="word">
          By <bdi>{override.who}</bdi>: <bdi>{override.why || "no reason given"}</bdi>.{" "}
          {remaining(override.remainingMs)} left.
        </p>
      )}
      {override === undefined && mode !== "enforce" && <p class="word">By the policy: {MODES[mode]}.</p>}
      {override === undefined && state !== "CLOSED" && (
        <p class="next">
          Next: {nextOf(backend)}
          {state === "OPEN" && waitRemainingMs > 0 && <Wait backend={backend} entries={entries} />}
        </p>
      )}
      {split !== undefined && (
        <p class="split">
          Gateways disagree: {split.open} of {split.of} refuse.
        </p>
      )}
      {backend.group !== undefined && state !== "CLOSED" && (
        <p class="quiet">
          Group: {backend.group.evidence} of {backend.group.live} opened by their own evidence.
        </p>
      )}
    </div>
  );
}

/** How much of the wait is over; as a bar, since the text beside it has the seconds. */
function Wait({ backend, entries }: { backend: BackendView; entries: readonly EntryView[] }) {
  const last = entries.findLast(
    (entry) => entry.kind === "transition" && entry.backend === backend.name && entry.to === "OPEN",
  );
  const whole =
    last?.kind === "transition" ? Math.max(last.waitMs, backend.waitRemainingMs) : backend.waitRemainingMs;
  return <progress max={whole} value={whole - backend.waitRemainingMs} aria-hidden="true" />;
}

/** "The GPU ran out of memory: Open"; "Closed, canaries went well" needs no more than "Closed". */
function reasonOf(backend: BackendView, entries: readonly EntryView[]): string {
  const state = { CLOSED: "Closed", OPEN: "Open", HALF_OPEN: "Half-open" }[backend.state];
  if (backend.state === "CLOSED") return state;
  const opening = openingOf(backend.name, entries);
  const { label } = causeText(opening?.kind === "transition" ? opening.cause : backend.cause);
  return `${capital(label)}: ${state}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

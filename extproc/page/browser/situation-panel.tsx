import { useContext } from "preact/hooks";
import type { BackendView, EntryView } from "../../control/schemas.js";
import { Badge } from "./badge.js";
import { causeText, ENGINE_HOLDS } from "./causes.js";
import { numbersOf } from "./entry-text.js";
import { CACHE_IS_FULL_FROM } from "./figures.js";
import { duration, moment, remaining } from "./format.js";
import { type Situation, serviceOf } from "./situation.js";
import { Stale } from "./stale.js";
import { type Chain, openingOf, sinceMs, standingOf, worstGateway } from "./standing.js";
import type { Snapshot } from "./store.js";

const MOST_SHOWN = 5;

/** The first thing to read: what is wrong, since when, what callers get, what to do. */
export function SituationPanel({ situation, snapshot }: { situation: Situation; snapshot: Snapshot }) {
  const isStale = useContext(Stale);
  const { tone, headline, troubles } = situation;
  const rest = troubles.length - MOST_SHOWN;
  return (
    <section class="situation" data-tone={tone} aria-labelledby="situation-title">
      <h1 id="situation-title">
        {isStale && <span class="was">Last known: </span>}
        <bdi>{headline}</bdi>
      </h1>
      {tone === "good" && <p class="lead">{quietFor(snapshot.entries)}</p>}
      {tone === "unknown" && (
        <p class="lead">
          Is Envoy up, and does its policy's <code>service.cluster</code> lead to this service's{" "}
          <code>listen.http</code>? Gateways tell how their backends stand once a second.
        </p>
      )}
      {troubles.length > 0 && (
        <ul class="troubles">
          {troubles.slice(0, MOST_SHOWN).map((backend) => (
            <Trouble
              key={backend.name}
              backend={backend}
              snapshot={snapshot}
              isAlone={troubles.length === 1}
            />
          ))}
        </ul>
      )}
      {rest > 0 && <p class="lead">And {rest} more, marked below.</p>}
    </section>
  );
}

function quietFor(entries: readonly EntryView[]): string {
  const last = entries.at(-1);
  if (last === undefined) return "Nothing has changed since the service was started.";
  return `Nothing has changed since ${moment(last.at)}: callers reach the first tier of every chain.`;
}

interface TroubleProps {
  readonly backend: BackendView;
  readonly snapshot: Snapshot;
  /** There is room for what to do. */
  readonly isAlone: boolean;
}

function Trouble({ backend, snapshot, isAlone }: TroubleProps) {
  const opening = openingOf(backend.name, snapshot.entries);
  const cause = causeText(opening?.kind === "transition" ? opening.cause : backend.cause);
  const isByHand = backend.override !== undefined || backend.mode.startsWith("forced");
  const chains = (snapshot.chains ?? []).filter(({ tiers }) => tiers.includes(backend.name));
  const numbers = opening?.kind === "transition" ? numbersOf({ ...opening, waitMs: 0 }) : "";
  const because = [cause.trigger ?? "", numbers].filter((part) => part !== "").join("; ");
  const todo = todoOf(backend, cause.todo);
  return (
    <li class={isAlone ? "alone" : ""}>
      <p class="what">
        <bdi class="name">{backend.name}</bdi> <Badge backend={backend} />
        <span>{isByHand ? byHand(backend) : cause.label}</span>
      </p>
      <dl>
        {!isByHand && because !== "" && (
          <div>
            <dt>Because</dt>
            <dd>{because}</dd>
          </div>
        )}
        <div>
          <dt>Since</dt>
          <dd>{since(backend, opening)}</dd>
        </div>
        <Callers chains={chains} snapshot={snapshot} />
        <div class="next">
          <dt>Next</dt>
          <dd>{nextOf(backend)}</dd>
        </div>
      </dl>
      {todo.length > 0 && (
        <details open={isAlone}>
          <summary>What to do</summary>
          <ul>
            {todo.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function Callers({ chains, snapshot }: { chains: readonly Chain[]; snapshot: Snapshot }) {
  const backends = new Map((snapshot.backends ?? []).map((backend) => [backend.name, backend]));
  if (chains.length === 0) return null;
  return (
    <div>
      <dt>Callers</dt>
      <dd>
        {chains.slice(0, 3).map((chain) => (
          <span class="service" key={`${chain.policy} ${chain.name}`}>
            <bdi>{chain.name}</bdi>: {serviceOf(chain, backends)}
          </span>
        ))}
      </dd>
    </div>
  );
}

function byHand({ override, mode }: BackendView): string {
  if (override === undefined) return `by the policy: mode ${mode}`;
  return `by ${override.who}: ${override.why}`;
}

function since(backend: BackendView, opening: EntryView | undefined): string {
  const inState = duration(sinceMs(backend));
  if (opening === undefined || backend.state === "CLOSED") return inState;
  return `${moment(opening.at)} (${inState} in this state)`;
}

/** What happens by itself. */
export function nextOf(backend: BackendView): string {
  const { override, waitRemainingMs } = backend;
  if (override !== undefined) return `the policy holds again in ${remaining(override.remainingMs)}`;
  const standing = standingOf(backend);
  if (standing === "open")
    return waitRemainingMs > 0 ? `a probe in ${remaining(waitRemainingMs)}` : "a probe, now";
  if (standing === "probing") return "the probe's answer decides";
  if (standing === "ramp") {
    const canaries = worstGateway(backend)?.canaries ?? 0;
    return `short prompts are tried, ${canaries} in flight; enough good ones in a row close it`;
  }
  return "nothing by itself";
}

function todoOf(backend: BackendView, todo: readonly string[]): readonly string[] {
  if (backend.override !== undefined) {
    return [
      "Somebody does this on purpose: ask them before you change it. Withdraw ends it; so does its time.",
    ];
  }
  const { state, signals } = backend;
  const isFull = (signals?.kvCacheUse ?? 0) >= CACHE_IS_FULL_FROM;
  const isHeld = state === "HALF_OPEN" && signals !== undefined && (isFull || !signals.isFresh);
  return isHeld ? [ENGINE_HOLDS, ...todo] : todo;
}

import type { ComponentChildren } from "preact";
import type { BackendView } from "../../control/schemas.js";
import { count, decimal, latency, percent } from "./format.js";
import { standingOf } from "./standing.js";

const DRIFTS_FROM = 2;
/** What `kvCacheUseThreshold` is where the policy says nothing. */
export const CACHE_IS_FULL_FROM = 0.75;

/** The numbers of a backend. What nobody tells is left out, not shown as 0. */
export function Figures({ backend }: { backend: BackendView }) {
  const { window, latency: tokens, override } = backend;
  const { kvCacheUse, waiting } = signalsOf(backend);
  const standing = standingOf(backend);
  const canaries = backend.gateways.reduce((sum, gateway) => sum + gateway.canaries, 0);
  const isTrying = standing === "ramp" && override === undefined;
  return (
    <dl class="figures">
      <Figure name="Calls" hint="in the window, over all gateways">
        {count(window.calls)}
      </Figure>
      <Figure name="Failed" isBad={window.failureRate >= 20 && window.calls >= 5}>
        {decimal(window.failureRate)} %
      </Figure>
      <Figure name="In a row" hint="failures in a row" isBad={window.consecutiveFailures >= 3}>
        {count(window.consecutiveFailures)}
      </Figure>
      {window.slowCalls > 0 && (
        <Figure name="Slow" hint="first tokens that came late" isBad>
          {count(window.slowCalls)}
        </Figure>
      )}
      {window.backpressure > 0 && (
        <Figure name="429s" isBad>
          {count(window.backpressure)}
        </Figure>
      )}
      {isTrying && (
        <Figure name="Canaries" hint="in flight">
          {count(canaries)}
        </Figure>
      )}
      {tokens !== undefined && tokens.samples > 0 && <FirstToken tokens={tokens} />}
      {kvCacheUse !== undefined && (
        <Figure name="KV cache" isBad={kvCacheUse >= CACHE_IS_FULL_FROM}>
          {percent(kvCacheUse)}{" "}
          <meter min={0} max={1} high={CACHE_IS_FULL_FROM} value={kvCacheUse} aria-hidden="true" />
        </Figure>
      )}
      {waiting !== undefined && (
        <Figure
          name="Queue"
          hint="requests that wait in the engine"
          isBad={backend.signals?.isQueueLong === true}
        >
          {count(waiting)}
        </Figure>
      )}
      {backend.signals?.isFresh === false && (
        <Figure name="Signals" isBad>
          stale
        </Figure>
      )}
    </dl>
  );
}

function FirstToken({ tokens }: { tokens: NonNullable<BackendView["latency"]> }) {
  const { p50Ms, p99Ms, judgedMs, judgedPercentile, baselineMs } = tokens;
  const times = baselineMs ? judgedMs / baselineMs : undefined;
  return (
    <>
      <Figure name="First token" hint="half of them came by then">
        {latency(p50Ms)}
      </Figure>
      <Figure name="p99" hint="99 of 100 first tokens came by then">
        {latency(p99Ms)}
      </Figure>
      <Figure
        name="Drift"
        hint={`its p${judgedPercentile} now, beside what it usually is`}
        isBad={times !== undefined && times >= DRIFTS_FROM}
      >
        {baselineMs === undefined || times === undefined ? (
          <span class="quiet">learning</span>
        ) : (
          <>
            × {times.toFixed(1)}
            <span class="usual">of {latency(baselineMs)}</span>
          </>
        )}
      </Figure>
    </>
  );
}

interface FigureProps {
  readonly name: string;
  readonly hint?: string;
  readonly isBad?: boolean;
  readonly children: ComponentChildren;
}

function Figure({ name, hint, isBad = false, children }: FigureProps) {
  return (
    <div title={hint} data-bad={isBad}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The engines' pages, or else what answers' headers told. */
function signalsOf({ signals, load }: BackendView): {
  kvCacheUse?: number | undefined;
  waiting?: number | undefined;
} {
  return { kvCacheUse: signals?.kvCacheUse ?? load?.kvCacheUse, waiting: signals?.waiting ?? load?.waiting };
}

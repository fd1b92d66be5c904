import type { DryRunResult } from "../control/dry-run-schemas.js";
import type { BackendView, EntryView, OverrideView, PeersView } from "../control/schemas.js";
import { NOBODY_SYNCS } from "../control/words.js";
import type { Colours } from "./colours.js";
import { showDuration, table } from "./table.js";

/*
 * What people read. Everything that came from the service is one line of plain text already.
 */

const MODE_NAMES: Partial<Record<BackendView["mode"], string>> = {
  forcedOpen: "FORCED OPEN",
  forcedClosed: "FORCED CLOSED",
  disabled: "DISABLED",
};

export function showBackends(backends: readonly BackendView[], colours: Colours): string {
  if (backends.length === 0) return NOBODY_SYNCS;
  const rows = backends.map((backend) => [
    backend.name,
    showState(backend, colours),
    showWindow(backend.window),
    gatewaysOf(backend),
    notesOf(backend).join("; "),
  ]);
  return table(["BACKEND", "STATE", "FAILED/CALLS", "GATEWAYS", "NOTES"], rows);
}

export function showBackend(backend: BackendView, colours: Colours): string {
  const rows = backend.gateways.map((gateway) => [
    gateway.node || gateway.process,
    gateway.policy,
    showState(gateway, colours),
    showWindow(gateway.window),
    showDuration(gateway.stateAgeMs),
    gateway.cause === "NONE" ? "-" : gateway.cause,
  ]);
  return [
    `${backend.name}: ${[showState(backend, colours), ...notesOf(backend)].join("; ")}`,
    "",
    table(["GATEWAY", "POLICY", "STATE", "FAILED/CALLS", "SINCE", "CAUSE"], rows),
  ].join("\n");
}

export function showEntry(entry: EntryView, colours: Colours): string {
  const time = colours.dim(new Date(entry.at).toISOString().slice(0, 19).replace("T", " "));
  if (entry.kind === "operator") {
    const mode = entry.action === "learned" || entry.action === "ended" ? ` (${entry.mode})` : "";
    const length = entry.forMs === undefined ? "" : ` for ${showDuration(entry.forMs)}`;
    const why = entry.why === "" ? "" : `: ${entry.why}`;
    return `${time}  ${entry.backend}  ${entry.action}${mode}${length} by ${entry.who}${why}`;
  }
  const stage = entry.to === "HALF_OPEN" ? ` stage ${entry.stage}` : "";
  const wait = entry.to === "OPEN" ? `, waits ${showDuration(entry.waitMs)}` : "";
  const where = entry.node || entry.process;
  const figures = `${entry.weightedFailures}/${entry.calls} failed, ${entry.consecutiveFailures} in a row`;
  const who = entry.who === undefined ? "" : ` by ${entry.who}: ${entry.why}`;
  return `${time}  ${entry.backend}  ${entry.from} → ${stateColour(entry.to, colours)}${stage}  ${entry.cause}${wait}  ${where}  ${figures}${who}`;
}

export function showOverride({ backend, mode, remainingMs, who, why }: OverrideView): string {
  const reason = why === "" ? "" : `: ${why}`;
  return `${backend} is ${MODE_NAMES[mode] ?? mode} for ${showDuration(remainingMs)}, by ${who}${reason}`;
}

export function showChainWithoutTier(chain: string): string {
  return `chain ${chain} has no tier left: its callers get the exhausted answer, 503 unless the policy says otherwise`;
}

export function showPeers({ engine, members }: PeersView): string {
  if (engine === "none") return "this service has no peers: `peers` is not configured";
  const rows = members.map(({ name, id, isSelf, isLive, silentMs, backends }) => [
    name,
    id,
    isLive ? "live" : "silent",
    isSelf ? "this one" : showDuration(silentMs),
    String(backends),
  ]);
  return table(["MEMBER", "ID", "STATE", "HEARD", "BACKENDS"], rows);
}

export function showDryRun({ policy, from, to, backends, notes }: DryRunResult, colours: Colours): string {
  const rows = backends.map(({ name, recorded, replayed, actual }) => [
    name,
    `${recorded.failures}/${recorded.calls}`,
    String(actual.openingCount),
    showDuration(actual.notClosedMs),
    String(replayed.openingCount),
    showDuration(replayed.notClosedMs),
    String(replayed.refusedCalls),
  ]);
  const head = ["BACKEND", "FAILED/CALLS", "OPENED", "NOT CLOSED", "WOULD OPEN", "NOT CLOSED", "REFUSED"];
  const openings = backends.flatMap(({ name, replayed }) =>
    replayed.openings.map(
      ({ at, cause, waitMs }) =>
        `  ${colours.dim(at.slice(0, 19).replace("T", " "))}  ${name} would open: ${cause}, waits ${showDuration(waitMs)}`,
    ),
  );
  const body =
    backends.length === 0 ? ["none of its backends has been recorded"] : [table(head, rows), ...openings];
  return [
    `policy ${policy}, ${from} to ${to}`,
    "",
    ...body,
    "",
    ...notes.map((note) => colours.dim(note)),
  ].join("\n");
}

function showState({ state, mode }: Pick<BackendView, "state" | "mode">, colours: Colours): string {
  const forced = MODE_NAMES[mode];
  if (forced !== undefined) return mode === "forcedOpen" ? colours.red(forced) : colours.yellow(forced);
  return stateColour(state, colours) + (mode === "shadow" ? " (shadow)" : "");
}

function stateColour(state: BackendView["state"], colours: Colours): string {
  const { red, yellow, green } = colours;
  return { OPEN: red, HALF_OPEN: yellow, CLOSED: green }[state](state);
}

function showWindow({ weightedFailures, calls, failureRate }: BackendView["window"]): string {
  return calls === 0 ? "-" : `${weightedFailures}/${calls} (${failureRate} %)`;
}

/** "2/3 OPEN" when they are not all in the same state. */
function gatewaysOf({ gateways, state }: BackendView): string {
  const same = gateways.filter((gateway) => gateway.state === state).length;
  return same === gateways.length ? String(gateways.length) : `${same}/${gateways.length} ${state}`;
}

function notesOf({
  state,
  cause,
  openings,
  waitRemainingMs,
  override,
  signals,
  load,
  group,
}: BackendView): string[] {
  const notes: string[] = [];
  if (override !== undefined) {
    const why = override.why === "" ? "" : `: ${override.why}`;
    notes.push(`by ${override.who}, ${showDuration(override.remainingMs)} left${why}`);
  }
  if (state !== "CLOSED") notes.push(`${cause}, opening ${openings}`);
  if (state === "OPEN")
    notes.push(waitRemainingMs > 0 ? `probe in ${showDuration(waitRemainingMs)}` : "probe is due");
  if (signals !== undefined && !signals.isFresh) notes.push("signals are stale");
  // As the filter goes by them: the page first.
  const kvCacheUse = signals?.kvCacheUse ?? load?.kvCacheUse;
  const waiting = signals?.waiting ?? load?.waiting ?? 0;
  if (kvCacheUse !== undefined) notes.push(`KV cache ${Math.round(kvCacheUse * 100)} %`);
  if (waiting > 0) notes.push(`${waiting} wait`);
  // None counts while an operator's word holds.
  if (group !== undefined && group.live > 0)
    notes.push(`group ${group.evidence}/${group.live} by own evidence`);
  return notes;
}

import { isDeepStrictEqual } from "node:util";
import { LineCounter, parse, parseDocument } from "yaml";
import { CliError } from "../../cli-error.js";
import { readDocument, type SettingsDocument } from "../../config/document.js";
import { backendCluster, CLUSTER_BUFFER_BYTES } from "../parts/cluster.js";
import { LISTENER_BUFFER_BYTES } from "../parts/listener.js";
import type { Plan, PlannedBackend } from "../plan.js";
import { isMap, mapOf } from "../policy-text.js";
import { clustersOfOurs, notesFor, placeOf } from "../targets/envoy.js";
import type { EnvoyMeans } from "../targets/envoy-options.js";
import { plain, type YamlValue } from "../yaml/value.js";
import { CantReconcile } from "./cant-reconcile.js";
import { type Choice, type ChosenRoute, chooseRoutes } from "./choose.js";
import { asYaml, type Fields, Findings, get, mapIn, nameIn, nameOf, type Path, put } from "./fields.js";
import {
  clustersOf,
  listenersOf,
  managersOf,
  type Place,
  routesOf,
  startsWith,
  staticResources,
} from "./find.js";
import { mergeCluster } from "./merge-cluster.js";
import { type MergeMeans, mergeListener, mergeManager } from "./merge-manager.js";
import { mergeStats } from "./merge-stats.js";
import { reconcile } from "./reconcile.js";
import { applyEdits, type Edit, endingLinesAs, inOrder } from "./text-edit.js";

/** Of a line that tells of a change. */
const SHOWN = 100;
const DEFAULT_HOLD_BYTES = 262_144;

export interface Merged {
  readonly text: string;
  readonly notes: readonly string[];
  /** What was put in, a line each. */
  readonly changes: readonly string[];
}

/**
 * Somebody's Envoy configuration with the breaker in it: every byte that has nothing to do with it stays, and a second time changes
 * nothing.
 * @throws CliError that tells all that stands in the way, each with its line.
 */
export function mergeInto(text: string, file: string, plan: Plan, means: EnvoyMeans, choice: Choice): Merged {
  const document = readDocument(text);
  if ("problems" in document) {
    throw new CliError(
      1,
      document.problems
        .map(({ text: told, position }) => `${file}:${position?.line ?? 1} ${told}`)
        .join("\n"),
    );
  }
  const findings = new Findings();
  const root = isMap(document.value) ? document.value : {};
  const desired = mergeRoot(
    root,
    { plan, place: placeOf(plan, means), canChangeCluster: means.canChangeCluster, findings },
    choice,
  );
  if (findings.faults.length > 0) throw new CliError(1, linesOf(findings.faults, document, file).join("\n"));
  const { edited, edits } = write(text, file, asYaml(desired));
  return {
    text: edited,
    notes: [...linesOf(findings.notes, document, file), ...notesFor(plan, means)],
    changes: changesOf(text, edits, file),
  };
}

function mergeRoot(root: Fields, means: MergeMeans, choice: Choice): Fields {
  const { plan, findings } = means;
  if (!isMap(get(root, "static_resources"))) {
    findings.fault(
      [],
      "has no static_resources: only listeners and clusters that stand in the file can be changed",
    );
    return root;
  }
  const chosen = chooseRoutes(routesOf(root), plan, choice, findings);
  const { value: resources } = staticResources(root);
  const listeners = put(resources, "listeners", mergeListeners(root, chosen, means));
  const merged = put(
    mergeStats(root),
    nameIn(root, "static_resources"),
    put(listeners, "clusters", mergeClusters(root, means)),
  );
  // By its id the service tells gateways apart, and without both no secret is read.
  const needsNode =
    plan.service !== undefined || plan.backends.some(({ credential }) => credential !== undefined);
  const node = mapIn(root, "node");
  const isWhole = get(node, "id") !== undefined && get(node, "cluster") !== undefined;
  if (!needsNode || isWhole) return merged;
  return { ...merged, node: { id: plan.name, cluster: "llm-breaker", ...node } };
}

function mergeListeners(root: Fields, chosen: readonly ChosenRoute[], means: MergeMeans): readonly unknown[] {
  const least = holdBytes(means.plan) + CLUSTER_BUFFER_BYTES;
  return listenersOf(root).map((listener) => {
    if (!chosen.some(({ route }) => startsWith(route.path, listener.path))) return listener.value;
    let { value } = listener;
    for (const manager of managersOf(listener)) {
      value = replaceAt(
        value,
        manager.path.slice(listener.path.length),
        mergeManager(manager, chosen, means),
      ) as Fields;
    }
    return mergeListener(listener, value, least, means.findings, LISTENER_BUFFER_BYTES);
  });
}

function holdBytes({ policy }: Plan): number {
  const chains = Object.values(mapOf(mapOf(JSON.parse(policy)).chains)).map(mapOf);
  return Math.max(...chains.map(({ holdLimit }) => Number(holdLimit ?? DEFAULT_HOLD_BYTES)));
}

function mergeClusters(root: Fields, means: MergeMeans): readonly unknown[] {
  const { plan, place, findings } = means;
  const theirs = clustersOf(root);
  const merged = new Map<string, unknown>();
  for (const backend of plan.backends) merged.set(backend.cluster, mergeBackend(theirs, backend, means));
  for (const cluster of clustersOfOurs(plan, place)) merged.set(String(cluster.name), cluster);
  const left = theirs.filter(
    (cluster) => backendOf(cluster) !== undefined && !merged.has(nameOf(cluster.value)),
  );
  for (const { path, value } of left) {
    findings.note(
      path,
      `cluster ${nameOf(value)} is no backend of the policy any more: take it, or the breaker's parts of it, out`,
    );
  }
  const names = theirs.map(({ value }) => nameOf(value));
  const added = [...merged].filter(([name]) => !names.includes(name)).map(([, cluster]) => cluster);
  return [...theirs.map(({ value }) => merged.get(nameOf(value)) ?? value), ...added];
}

function mergeBackend(
  theirs: readonly Place[],
  backend: PlannedBackend,
  { place, findings }: MergeMeans,
): unknown {
  const { alias, cluster, url } = backend;
  const found = theirs.find(({ value }) => nameOf(value) === cluster);
  if (url === undefined) {
    if (found !== undefined) return mergeCluster(found, backend, place, findings);
    const names = theirs.map(({ value }) => nameOf(value)).join(", ");
    findings.fault(
      [],
      `has no cluster ${cluster} for backends.${alias}: name one by cluster (there are ${names}), or give a url for a new one`,
    );
    return undefined;
  }
  if (found !== undefined && backendOf(found) !== alias) {
    findings.fault(
      found.path,
      `there is a cluster ${cluster} already: leave the url of backends.${alias} out to use it`,
    );
  }
  return backendCluster(backend, url, place);
}

/** Its alias, where it is one already. */
function backendOf({ value }: Place): unknown {
  return mapOf(mapIn(mapIn(value, "metadata"), "filter_metadata")["llm.breaker"]).backend;
}

function replaceAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === step ? replaceAt(item, rest, replacement) : item));
  }
  const fields = mapOf(value);
  return { ...fields, [step]: replaceAt(fields[String(step)], rest, replacement) };
}

/** The value in the text's own form; what comes out is read again, and has to be that value. */
function write(text: string, file: string, desired: YamlValue): { edited: string; edits: Edit[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  try {
    const edits = endingLinesAs(text, reconcile(document, text, desired));
    const edited = applyEdits(text, edits);
    if (!isDeepStrictEqual(readAgain(edited), plain(desired))) {
      throw new CliError(
        1,
        `${file} is written in a way that can't be changed piece by piece: write its anchors out, or render a new file`,
      );
    }
    return { edited, edits };
  } catch (cause) {
    if (!(cause instanceof CantReconcile)) throw cause;
    throw new CliError(1, `${file}:${lines.linePos(cause.offset).line} ${cause.message}`, { cause });
  }
}

/** Undefined when it is no YAML, since an anchor had to go of which there are aliases. */
function readAgain(edited: string): unknown {
  try {
    return parse(edited, { maxAliasCount: 1000 });
  } catch {
    return undefined;
  }
}

function linesOf(
  findings: readonly { path: Path; text: string }[],
  document: SettingsDocument,
  file: string,
): string[] {
  return findings.map(({ path, text }) => {
    if (path.length === 0) return `${file} ${text}`;
    return `${file}:${document.positionOf(path, true).line} ${text}`;
  });
}

function changesOf(text: string, edits: readonly Edit[], file: string): string[] {
  return inOrder(edits).map(({ start, end, text: put }) => {
    const line = text.slice(0, start).split("\n").length;
    const lines = put
      .trim()
      .split("\n")
      .map((each) => each.trim())
      .filter((each) => !each.startsWith("#"));
    const gone = text.slice(start, end).trim().split("\n")[0] ?? "";
    const first = (lines[0] ?? "").slice(0, SHOWN);
    const shown = lines.length > 1 ? `${first} … (${lines.length} lines)` : first;
    return `${file}:${line} ${gone === "" ? `+ ${shown}` : `${gone} → ${shown}`}`;
  });
}

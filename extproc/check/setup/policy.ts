import { placeOfFault, policyFaults } from "../../policy-check.js";
import { Located } from "../tree/located.js";
import type { Base } from "../tree/source-text.js";
import { readYaml } from "../tree/yaml.js";
import type { HttpFilter } from "./filters.js";

/** As filter/policy/policy.ts has them. */
const DEFAULT_ATTEMPTS = 4;
const DEFAULT_HOLD_LIMIT = 262_144;
const COMPLETE_HOLD_LIMIT = 1_048_576;
const DEFAULT_ANSWER_TIMEOUT_MS = 120_000;
const ATTEMPTS_DEADLINE_BEYOND_MS = 60_000;
const DEFAULT_WAIT_MS = 5000;
const DEFAULT_MAX_WAIT_MS = 120_000;
const MAX_STRUCT_DEPTH = 32;

/** What `chain` says, in the policy or on a route, to have the model in the body decide. */
export const BY_MODEL = "by-model";
const MAX_STRUCT_VALUES = 50_000;

export interface ChainView {
  readonly name: string;
  readonly at: Located;
  readonly tiers: readonly string[];
  readonly models: readonly string[];
  readonly maxAttempts: number;
  readonly sameTierRetries: number;
  /** Most bytes of an answer that are held at once; 0 when nothing is. */
  readonly heldBytes: number;
  readonly answerTimeoutMs: number;
  readonly attemptsDeadlineMs: number;
  readonly isFixed: boolean;
  readonly hasLimits: boolean;
  readonly exhausted: string;
}

export interface BackendView {
  readonly alias: string;
  readonly at: Located;
  readonly cluster: string;
  readonly rewritesBody: boolean;
  readonly maxConcurrentCalls: number | undefined;
  readonly waitMs: number;
  readonly maxWaitMs: number;
  readonly countsCanaries: boolean;
  /** Fields of `breaker` that only signals of the engine can feed, as far as the policy names them. */
  readonly signalFields: readonly Located[];
}

/** A gate's policy, as far as rules look at it: defaults filled in, and whatever is wrong passed over. */
export class PolicyView {
  readonly backends: ReadonlyMap<string, BackendView>;
  readonly chains: ReadonlyMap<string, ChainView>;
  readonly name: string;
  readonly serviceCluster: string | undefined;
  /** The chain of every request, or by-model. */
  readonly onlyChain: string | undefined;
  readonly shedClasses: readonly string[];

  constructor(
    /** Where the text stands. */
    readonly at: Located,
    readonly root: Located,
    readonly text: string,
  ) {
    this.name = root.at("name")?.text ?? "default";
    this.serviceCluster = root.at("service", "cluster")?.text;
    this.onlyChain = root.at("chain")?.text;
    this.shedClasses = root.at("shedClasses")?.items.flatMap(({ text: word }) => word ?? []) ?? ["batch"];
    const shared = root.at("breaker");
    this.backends = viewsOf(root.at("backends"), (alias, node) => backendView(alias, node, shared));
    this.chains = viewsOf(root.at("chains"), chainView);
  }

  /** What Envoy's log would say, by the filter's own parser. */
  get faults(): readonly string[] {
    try {
      return policyFaults(this.text);
    } catch (cause) {
      return [cause instanceof Error ? cause.message : String(cause)];
    }
  }

  placeOf(fault: string): Located {
    let found = this.root;
    for (const step of placeOfFault(fault, this.plain()).path) {
      const next = typeof step === "number" ? found.items[step] : found.fields.get(String(step));
      if (next === undefined) break;
      found = next;
    }
    return found;
  }

  private plain(): unknown {
    try {
      return JSON.parse(this.text);
    } catch {
      return undefined;
    }
  }
}

/** `text` is the policy, `base` where its first character stands in the file. */
export function readPolicy(at: Located, text: string, base: Base): PolicyView {
  const { roots } = readYaml(at.source.name, text, base);
  return new PolicyView(at, roots[0] ?? at, text);
}

function viewsOf<View>(
  node: Located | undefined,
  view: (name: string, node: Located) => View,
): ReadonlyMap<string, View> {
  return new Map([...(node?.fields ?? [])].map(([name, each]) => [name, view(name, each)]));
}

function backendView(alias: string, at: Located, shared: Located | undefined): BackendView {
  const setting = (...keys: string[]) => at.at("breaker", ...keys) ?? shared?.at(...keys);
  const duration = (key: string) => ownMilliseconds(setting(key));
  return {
    alias,
    at,
    cluster: at.at("cluster")?.text ?? alias,
    rewritesBody: at.at("rewritesBody")?.text === "true",
    maxConcurrentCalls: at.numberOf("maxConcurrentCalls"),
    waitMs: duration("waitDurationInOpenState") ?? DEFAULT_WAIT_MS,
    maxWaitMs: duration("maxWaitDurationInOpenState") ?? DEFAULT_MAX_WAIT_MS,
    countsCanaries: (setting("canary", "size")?.text ?? "count") === "count",
    signalFields: ["kvCacheUseThreshold", "shedAboveQueueDepth"].flatMap((key) => {
      const field = setting(key);
      return field === undefined || field.text === "0" ? [] : field;
    }),
  };
}

function chainView(name: string, at: Located): ChainView {
  const maxAttempts = at.numberOf("maxAttempts") ?? DEFAULT_ATTEMPTS;
  const answerTimeoutMs = ownMilliseconds(at.at("answerTimeout")) ?? DEFAULT_ANSWER_TIMEOUT_MS;
  const holdLimit = at.numberOf("holdLimit") ?? DEFAULT_HOLD_LIMIT;
  const isComplete = at.at("commit")?.text === "complete";
  return {
    name,
    at,
    tiers: at.at("tiers")?.items.flatMap(({ text }) => text ?? []) ?? [],
    models: at.at("models")?.items.flatMap(({ text }) => text ?? []) ?? [],
    maxAttempts,
    sameTierRetries: at.numberOf("sameTierRetries") ?? 1,
    heldBytes: maxAttempts > 1 ? Math.max(holdLimit, isComplete ? COMPLETE_HOLD_LIMIT : 0) : 0,
    answerTimeoutMs,
    attemptsDeadlineMs:
      ownMilliseconds(at.at("attemptsDeadline")) ?? answerTimeoutMs + ATTEMPTS_DEADLINE_BEYOND_MS,
    isFixed: at.at("routing")?.text === "fixed",
    hasLimits: at.at("limits")?.text === "true",
    exhausted: at.at("exhausted", "action")?.text ?? "reply",
  };
}

function ownMilliseconds(field: Located | undefined): number | undefined {
  return field === undefined
    ? undefined
    : new Located(field.source, 0, new Map([["it", field]])).millisecondsOf("it");
}

/** The policies of all gates, and those that came by themselves. */
export function policiesOf(filters: readonly HttpFilter[], given: readonly PolicyView[]): PolicyView[] {
  const found: PolicyView[] = [];
  for (const { role, plugin } of filters) {
    const configuration = role === "gate" ? plugin?.get("configuration") : undefined;
    const value = configuration?.at("value") ?? configuration;
    if (value === undefined) continue;
    const text = typeof value.content === "string" ? value.content : JSON.stringify(plainOf(value));
    if (found.some((policy) => policy.text === text)) continue;
    found.push(readPolicy(value, text, baseOf(value)));
  }
  return [...found, ...given];
}

/** Where the text of a scalar begins: of a block one line below its head. */
export function baseOf({ place, source, offset }: Located): { line: number; column: number } {
  const head = source.text.slice(offset, offset + 12);
  const block = /^[|>][-+0-9]*[^\n]*\n( *)/.exec(source.text.slice(offset, offset + 400));
  return block === null || !/^[|>]/.test(head)
    ? { line: place.line, column: place.column + (/^["']/.test(head) ? 1 : 0) }
    : { line: place.line + 1, column: 1 + (block[1]?.length ?? 0) };
}

/** As JSON would give it; a Struct in place of a text. One that aliases make huge is no policy. */
function plainOf(node: Located, budget = { left: MAX_STRUCT_VALUES }, depth = 0): unknown {
  if (depth > MAX_STRUCT_DEPTH || budget.left-- <= 0) return null;
  const plain = (each: Located) => plainOf(each, budget, depth + 1);
  if (!node.isMap) return Array.isArray(node.content) ? node.items.map(plain) : node.content;
  const fields = [...node.fields].filter(([key]) => key !== "@type");
  return Object.fromEntries(fields.map(([key, each]) => [key, plain(each)]));
}

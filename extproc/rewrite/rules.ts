import { DIALECTS, type DialectName } from "../dialects/dialects.js";

/** What a backend's cluster metadata ask of a body, and of its answer. */
export interface RewriteRules {
  /** The backend's alias. */
  readonly backend: string | undefined;
  /** The backend's own name of its model. */
  readonly model: string | undefined;
  /** Cap on the tokens of one answer. */
  readonly maxOutputTokens: number | undefined;
  /** The one name by which the backend knows a chat's limit. */
  readonly outputTokensField: OutputTokensField | undefined;
  /** Top-level fields that go. */
  readonly remove: ReadonlySet<string>;
  readonly removesWebSearch: boolean;
  /** Top-level fields that get another name, in this order. */
  readonly rename: readonly (readonly [from: string, to: string])[];
  readonly includesUsage: boolean;
  /** The answer names the model as the caller did. */
  readonly mapsModelBack: boolean;
  readonly dialect: DialectName | undefined;
  /** A guard waits for the mark. None does where only degraded requests are rewritten: the others pass unseen. */
  readonly isGuarded: boolean;
}

export type OutputTokensField = "max_tokens" | "max_completion_tokens";

/** One cluster's rules, by the state of its backend. */
export interface ClusterRules {
  readonly usual: RewriteRules;
  /** While the backend is half-open or its queue is long. */
  readonly degraded: RewriteRules;
  /** Values that can't be used and are passed over, each as a line for the log. */
  readonly problems: readonly string[];
}

const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[];

/** What `tools` and `web_search` stand for in a list of fields. */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ["tools", ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"]],
  ["web_search", ["web_search_options"]],
]);

/** A value that can't be used is as good as none: a wrong set-up never costs a request. */
export function readRules(metadata: ReadonlyMap<string, string>): ClusterRules {
  const reader = new Reader(metadata);
  const cap = reader.count("maxOutputTokens");
  const removed = reader.list("remove");
  const usual: RewriteRules = {
    backend: reader.text("backend"),
    model: reader.text("model"),
    maxOutputTokens: cap,
    outputTokensField: reader.oneOf("outputTokensField", ["max_tokens", "max_completion_tokens"]),
    ...removalOf(removed),
    rename: reader.list("rename").flatMap((entry) => reader.pair("rename", entry)),
    includesUsage: reader.oneOf("includeUsage", ["true", "false"]) === "true",
    mapsModelBack: reader.oneOf("answerModel", ["caller", "backend"]) === "caller",
    dialect: reader.oneOf("dialect", DIALECT_NAMES),
    isGuarded: !isOnlyDegraded(metadata),
  };
  const degradedCap = reader.count("degradedMaxOutputTokens");
  const degraded: RewriteRules = {
    ...usual,
    maxOutputTokens: degradedCap === undefined ? cap : Math.min(degradedCap, cap ?? degradedCap),
    ...removalOf([...removed, ...reader.list("degradedRemove")]),
  };
  return { usual, degraded, problems: reader.problems };
}

/** Metadata that ask for another body whatever the tier's load. */
export const USUAL_KEYS = [
  "model",
  "maxOutputTokens",
  "outputTokensField",
  "remove",
  "rename",
  "includeUsage",
  "answerModel",
  "dialect",
];

function isOnlyDegraded(metadata: ReadonlyMap<string, string>): boolean {
  return (
    [...metadata.keys()].some((key) => key.startsWith("degraded")) &&
    !USUAL_KEYS.some((key) => metadata.has(key))
  );
}

function removalOf(names: readonly string[]): Pick<RewriteRules, "remove" | "removesWebSearch"> {
  return {
    remove: new Set(names.flatMap((name) => GROUPS.get(name) ?? [name])),
    removesWebSearch: names.includes("web_search"),
  };
}

class Reader {
  readonly problems: string[] = [];

  constructor(private readonly metadata: ReadonlyMap<string, string>) {}

  text(key: string): string | undefined {
    return this.metadata.get(key) || undefined;
  }

  count(key: string): number | undefined {
    const value = this.text(key);
    if (value === undefined || /^[1-9]\d{0,8}$/.test(value))
      return value === undefined ? value : Number(value);
    return this.refuse(key, `must be a positive whole number, got ${JSON.stringify(value)}`);
  }

  oneOf<Word extends string>(key: string, words: readonly Word[]): Word | undefined {
    const value = this.text(key);
    const word = words.find((candidate) => candidate === value);
    return value === undefined || word !== undefined
      ? word
      : this.refuse(key, `must be ${words.join(" or ")}, got ${JSON.stringify(value)}`);
  }

  list(key: string): string[] {
    const entries = (this.text(key) ?? "").split(",").map((entry) => entry.trim());
    return entries.filter((entry) => entry !== "");
  }

  pair(key: string, entry: string): [from: string, to: string][] {
    const names = entry.split("=").map((name) => name.trim());
    const [from, to] = names;
    if (names.length === 2 && from && to) return [[from, to]];
    this.refuse(key, `must be like "seed=random_seed, a=b", got ${JSON.stringify(entry)}`);
    return [];
  }

  private refuse(key: string, rule: string): undefined {
    const backend = this.text("backend");
    const whose = backend === undefined ? "" : ` of backend ${backend}`;
    this.problems.push(`cluster metadata${whose}: ${key} ${rule}, ignored`);
  }
}

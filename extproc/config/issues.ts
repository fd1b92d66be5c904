import type { z } from "zod";
import { formatPath, type Problem } from "./errors.js";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const MAX_SHOWN = 100;
const LIKE_AN_ADDRESS = /:\/\/|^[\w.-]+:\d{1,5}(?:\/|$)|^$/;
const MERGE_KEY_RULE = "is a merge key, which is not read: write its fields out; anchors and aliases are";

/** What zod found, in words: the field's path, the rule and what was given. */
export function describeIssue(issue: Issue, above: Path = []): Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key],
      isKey: true,
      text: `${formatPath([...path, key])} ${key === "<<" ? MERGE_KEY_RULE : "is unknown, remove it or check its spelling"}`,
    }));
  }
  if (issue.code === "invalid_key") {
    return [
      { path, isKey: true, text: `${formatPath(path)} ${issue.issues[0]?.message ?? "is no valid name"}` },
    ];
  }
  if (issue.code === "invalid_union") {
    const branch = likeliest(issue.errors);
    if (branch !== undefined) return branch.flatMap((inner) => describeIssue(inner, path));
  }
  return [{ path, text: `${formatPath(path) || "the file"} ${ruleOf(issue)}, got ${shown(issue)}` }];
}

function ruleOf(issue: Issue): string {
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const rules = issue.errors.flatMap((branch) => branch.map(ruleOf));
    return [...new Set(rules)].join(" or ").replaceAll(" or must be ", " or ");
  }
  // Fields that say a rule of their own keep it; maps and lists have zod's words.
  if (issue.code === "invalid_type" && issue.message.startsWith("Invalid input")) {
    return `must be ${article(issue.expected)}`;
  }
  return issue.message;
}

/** Of a choice between kinds, the kind that was meant: the one whose faults lie deeper than the value itself. */
function likeliest(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.find((issues) =>
    issues.every(({ code, path }) => path.length > 0 || code === "unrecognized_keys"),
  );
}

function article(expected: string): string {
  if (expected === "object" || expected === "record") return "a map of settings";
  if (expected === "array") return "a list";
  return `a ${expected}`;
}

/** What stands where an address belongs, and looks like none, may be what belongs into a file. */
function shown(issue: Issue): string {
  const { input } = issue;
  const isHidden =
    typeof input === "string" && /^must be a URL/.test(issue.message) && !LIKE_AN_ADDRESS.test(input);
  return isHidden ? "a text that is none" : show(input);
}

/** What was given, short, and without what may be a password before an @, or a secret in a URL's path or query. */
function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  let text: string;
  try {
    text = JSON.stringify(value) ?? "nothing";
  } catch {
    return "a value that holds itself";
  }
  // Each run matches to its end, whatever comes there: one that may fail is tried again from each of its characters.
  text = text.replaceAll(/(?:[^"\\@]|\\.)*(@|"|$)/g, (run, end) => (end === "@" ? "***@" : run));
  text = text.replaceAll(/((?:https?:\/\/|\*\*\*@)[^/?#"\s@]*[/?#])[^"\s]+/g, "$1…");
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

import type { z } from "zod";

/** One text per bad field: its path, the rule and what was given. */
export function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = formatPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(
      (key) => `${path ? `${path}.` : ""}${key} is unknown, remove it or check its spelling`,
    );
  }
  return [`${path || "the file"} ${ruleOf(issue)}, got ${JSON.stringify(issue.input) ?? "nothing"}`];
}

function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  // Fields that say a rule of their own keep it; maps and lists have zod's words.
  if (issue.code === "invalid_type" && issue.message.startsWith("Invalid input")) {
    return `must be ${article(issue.expected)}`;
  }
  return issue.message;
}

function article(expected: string): string {
  if (expected === "object" || expected === "record") return "a map of settings";
  if (expected === "array") return "a list";
  return `a ${expected}`;
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

import { oneLine, textOf, writeOut } from "../files.js";
import type { Plan } from "../plan.js";
import type { TargetValues } from "../target.js";
import { envoyMeans } from "../targets/envoy-options.js";
import { mergeInto } from "./into.js";

/** Puts the breaker into somebody's file; what has changed is told on standard error. */
export function putInto(file: string, plan: Plan, values: TargetValues): number {
  const text = textOf(file);
  const merged = mergeInto(text, file, plan, envoyMeans(values), {
    routes: Array.isArray(values.route) ? values.route.map(String) : [],
    listener: typeof values.listener === "string" ? values.listener : undefined,
    chain: typeof values.chain === "string" ? values.chain : undefined,
  });
  for (const change of merged.changes) tell(change);
  for (const note of merged.notes) tell(`note: ${note}`);
  if (merged.changes.length === 0) tell(`${file} has it all already`);
  if (values["dry-run"] === true) return 0;
  const output = typeof values.output === "string" ? values.output : file;
  if (output !== file || merged.changes.length > 0) writeOut(output, merged.text);
  return 0;
}

function tell(line: string): void {
  process.stderr.write(`${oneLine(line)}\n`);
}

import { RULE_GROUPS } from "./rules/all.js";
import type { Rule } from "./rules/rule.js";

const PATH = "docs/check.md";

const HEAD = `# What \`llm-breaker check\` finds

\`\`\`sh
npx llm-breaker check envoy.yaml                          # a bootstrap; xDS files, dumps, meshes' objects and ConfigMaps, too
npx llm-breaker check istio/*.yaml --istio-version 1.30   # files of one set-up together: what the one leaves out may be in another
npx llm-breaker check service.yaml                        # the service's own settings
\`\`\`

A line a finding: place, level, rule, what is there, what callers get, the fix. \`error\`: callers meet it. \`warning\`: it costs something, or
bites only some. It ends with 1 when there are errors (\`--strict\`: or warnings), with 2 when it was asked wrongly. \`--json\` is for machines.
Only what is in the files is judged, and only where the breaker is: other routes and clusters are nobody's business. Policies are judged by the
filter's own parser. Nothing is sent anywhere. Written by \`npm run -s schema\`.
`;

/** docs/check.md, which can't be out of date. */
export function rulesFile(): { readonly path: string; update(present: string): string } {
  return {
    path: PATH,
    update: () => [HEAD, ...RULE_GROUPS.map(({ title, rules }) => section(title, rules))].join("\n"),
  };
}

function section(title: string, rules: readonly Rule[]): string {
  const rows = rules.map(
    ({ id, level, harm, fix }) => `| <a id="${id}"></a>\`${id}\` | ${level} | ${cell(harm)} | ${cell(fix)} |`,
  );
  return [`## ${title}`, "", "| rule | level | what happens | fix |", "|---|---|---|---|", ...rows, ""].join(
    "\n",
  );
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

import { type ParseArgsConfig, parseArgs } from "node:util";
import { CliError } from "../cli-error.js";
import { ConfigError } from "../config/errors.js";
import { oneLine, textOf, writeOut } from "./files.js";
import { putInto } from "./into/command.js";
import type { Plan } from "./plan.js";
import { readPolicy } from "./policy-file.js";
import type { Rendered, Target, TargetValues } from "./target.js";
import { envoyTarget } from "./targets/envoy.js";
import { envoyGatewayTarget } from "./targets/envoy-gateway/target.js";
import { istioTarget } from "./targets/istio/target.js";
import { kubernetesTarget } from "./targets/kubernetes/target.js";

const TARGETS: readonly Target[] = [envoyTarget, kubernetesTarget, istioTarget, envoyGatewayTarget];

const OPTIONS = {
  target: { type: "string" },
  output: { type: "string", short: "o" },
  help: { type: "boolean", short: "h" },
} as const;

const USAGE = `llm-breaker render: from a policy of twenty lines to the YAML that runs it

  llm-breaker render policy.yaml > envoy.yaml              a whole configuration
  llm-breaker render policy.yaml --into envoy.yaml         the breaker in one that you have

  --target NAME            ${TARGETS.map(({ name }) => name).join(", ")}; envoy if not given
  -o, --output FILE        in place of standard output
`;

const HELP = `${USAGE}
policy.yaml:

  name: chat
  backends:                # where each is, what its bodies need, what admission needs
    gpu:    { url: "http://vllm.llm.svc:8000", contextWindow: 32768 }
    public: { url: "https://api.example.com/v1", model: gpt-4o-mini, keyFile: /etc/llm-breaker/public-key.yaml }
  chains:                  # which of them answer, in order
    chat: { models: [qwen3-32b], tiers: [gpu, public] }
  breaker: { failureRateThreshold: 35 }

envoy/render.schema.json has every key, for editors too; docs/configuration.md what a policy's mean.
`;

/** Writes what runs a policy. */
export async function render(words: readonly string[]): Promise<number> {
  const any = parseWords(words, TARGETS, false).values;
  const target = targetNamed(any.target);
  if (any.into !== undefined && target !== envoyTarget)
    throw new CliError(2, "--into goes with --target envoy");
  const { values, positionals } = parseWords(words, [target], true);
  if (values.help === true) {
    process.stdout.write(
      `${HELP}${TARGETS.map(({ name, help }) => `\nTarget ${name}:\n\n${help}\n`).join("")}`,
    );
    return 0;
  }
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new CliError(2, "render takes one policy.yaml");
  const plan = readPlan(file);
  if (plan === undefined) return 1;
  if (typeof values.into !== "string") {
    put(target.write(plan, values), values.output);
    return 0;
  }
  return putInto(values.into, plan, values);
}

/** Targets have options of the same name that are not the same; only where one's alone are asked for an unknown one is refused. */
function parseWords(
  words: readonly string[],
  targets: readonly Target[],
  strict: boolean,
): { values: TargetValues; positionals: string[] } {
  const options: ParseArgsConfig["options"] = Object.assign(
    {},
    ...targets.map(({ options: own }) => own),
    OPTIONS,
  );
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict });
  } catch (cause) {
    throw new CliError(2, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function targetNamed(name: TargetValues[string]): Target {
  const target = TARGETS.find((each) => each.name === (name ?? "envoy"));
  if (target !== undefined) return target;
  throw new CliError(
    2,
    `--target must be one of ${TARGETS.map((each) => each.name).join(", ")}, got ${String(name)}`,
  );
}

/** Undefined when it is no policy: what is wrong has been told, a line each. */
function readPlan(file: string): Plan | undefined {
  try {
    return readPolicy(textOf(file), file);
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    for (const { text, position } of cause.problems) {
      process.stderr.write(`${file}:${position?.line ?? 1}:${position?.column ?? 1} ${oneLine(text)}\n`);
    }
    return undefined;
  }
}

function put({ text, notes }: Rendered, output: TargetValues[string]): void {
  if (typeof output === "string") writeOut(output, text);
  else process.stdout.write(text);
  for (const note of notes) process.stderr.write(`note: ${oneLine(note)}\n`);
}

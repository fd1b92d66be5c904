import { parseArgs } from "node:util";
import { CliError } from "../cli-error.js";
import type { Version } from "./setup/setup.js";

export const USAGE = `llm-breaker check: names the traps in YAML of Envoy, Istio or Envoy Gateway, each with its fix

  llm-breaker check FILE...    files of one set-up together: what the one leaves out may be in the other; - reads standard input

  --policy FILE            the gate's policy (its JSON alone), where it is in none of the files
  --envoy-version 1.39     of the Envoy that runs them; the newest that is tested, if not given
  --istio-version 1.31     of the mesh
  --strict                 warnings, too, end it with 1
  --json                   a list of findings: file, line, column, rule, level, what, harm, fix

Reads bootstraps, xDS files and config dumps, EnvoyFilter and its like, EnvoyPatchPolicy and its like, ConfigMaps that hold
them, and the service's own settings. docs/check.md has every rule.

Exit codes: 0 no error, 1 errors (--strict: or warnings), 2 asked wrongly.
`;

export interface CheckCommand {
  readonly files: readonly string[];
  readonly policy: string | undefined;
  readonly envoy: Version | undefined;
  readonly istio: Version | undefined;
  readonly isStrict: boolean;
  readonly isJson: boolean;
}

const OPTIONS = {
  policy: { type: "string" },
  "envoy-version": { type: "string" },
  "istio-version": { type: "string" },
  strict: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Undefined when help is asked for. @throws CliError that says what is wrong. */
export function parseCheck(words: readonly string[]): CheckCommand | undefined {
  const { values, positionals } = parse(words);
  if (values.help) return undefined;
  if (positionals.length === 0) throw new CliError(2, "check needs a file: llm-breaker check envoy.yaml");
  return {
    files: positionals,
    policy: values.policy,
    envoy: version("--envoy-version", values["envoy-version"]),
    istio: version("--istio-version", values["istio-version"]),
    isStrict: values.strict === true,
    isJson: values.json === true,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new CliError(2, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function version(option: string, text: string | undefined): Version | undefined {
  if (text === undefined) return undefined;
  const [, major, minor] = /^v?(\d{1,3})\.(\d{1,3})(\.\d+)?$/.exec(text) ?? [];
  if (minor === undefined) throw new CliError(2, `${option} must be like 1.39, got "${text}"`);
  return [Number(major), Number(minor)];
}

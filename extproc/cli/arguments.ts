import { userInfo } from "node:os";
import { parseArgs } from "node:util";
import { CliError } from "../cli-error.js";

export const DEFAULT_URL = "http://127.0.0.1:9004";

export const USAGE = `llm-breaker: state of the backends, and an operator's word on them; YAML to run it, and a look at yours

  llm-breaker status [backend]           how backends stand, worst first
  llm-breaker open <backend>             callers go to the next tier
  llm-breaker close <backend>            everything passes, whatever triggers say
  llm-breaker disable <backend>          everything passes, nothing is filed or probed
  llm-breaker reset <backend>            closed, with an empty window; the policy goes on
  llm-breaker withdraw <backend>         takes open, close or disable back
  llm-breaker watch                      transitions as they come
  llm-breaker history                    transitions that were
  llm-breaker peers                      the group of services
  llm-breaker dry-run <policy.json>      what a policy (the gate's JSON alone) would have done with the last hour

  llm-breaker render <policy.yaml>       the YAML for Envoy, Istio or Envoy Gateway; render --help tells more
  llm-breaker check <file...>            what is wrong in an Envoy's or a mesh's YAML; check --help tells more
  llm-breaker demo                       an outage in about 70 seconds; demo --help tells more
  llm-breaker --version

  --why TEXT       open, close, disable, reset: for the log and the history (required)
  --for 15m        open, close, disable: 1h if not given, 7d at most; then the policy holds again
  --who NAME       who does it: your user name if not given
  --backend NAME   watch, history, dry-run: only this one
  --limit N        history: the last N, 20 if not given
  --since 30m      dry-run: 1h if not given
  --json           what the API answers, as it is
  --url URL        ${DEFAULT_URL} if neither this nor LLM_BREAKER_URL is given
  --token-file F   its first line is the token; or LLM_BREAKER_TOKEN_FILE
  --ca-file, --cert-file, --key-file    PEM files for https; or LLM_BREAKER_CA_FILE, …_CERT_FILE, …_KEY_FILE

Exit codes: 0 done, 1 not done, 2 asked wrongly.
`;

const OPTIONS = {
  why: { type: "string" },
  for: { type: "string" },
  who: { type: "string" },
  backend: { type: "string" },
  limit: { type: "string" },
  since: { type: "string" },
  json: { type: "boolean" },
  url: { type: "string" },
  "token-file": { type: "string" },
  "ca-file": { type: "string" },
  "cert-file": { type: "string" },
  "key-file": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

export type OptionName = keyof typeof OPTIONS;

const CONNECTION: readonly OptionName[] = [
  "json",
  "url",
  "token-file",
  "ca-file",
  "cert-file",
  "key-file",
  "help",
];

interface Shape {
  /** What stands behind the command, and whether it must. */
  readonly argument?: { readonly name: string; readonly isRequired: boolean };
  readonly options: readonly OptionName[];
  readonly required?: readonly OptionName[];
}

const MODE: Shape = {
  argument: { name: "backend", isRequired: true },
  options: ["why", "for", "who"],
  required: ["why"],
};

export const COMMANDS = {
  status: { argument: { name: "backend", isRequired: false }, options: [] },
  open: MODE,
  close: MODE,
  disable: MODE,
  reset: { argument: { name: "backend", isRequired: true }, options: ["why", "who"], required: ["why"] },
  withdraw: { argument: { name: "backend", isRequired: true }, options: ["why", "who"] },
  watch: { options: ["backend"] },
  history: { options: ["backend", "limit"] },
  peers: { options: [] },
  "dry-run": { argument: { name: "policy.json", isRequired: true }, options: ["backend", "since"] },
} as const satisfies Record<string, Shape>;

export type CommandName = keyof typeof COMMANDS;

export interface Command {
  readonly name: CommandName;
  readonly argument: string | undefined;
  readonly options: Readonly<Partial<Record<Exclude<OptionName, "json" | "help">, string>>>;
  readonly isJson: boolean;
}

/** @throws CliError that says what is wrong; undefined when only help is asked for. */
export function parseCommand(words: readonly string[]): Command | undefined {
  const { values, positionals } = parseWords(words);
  const [name, argument, ...rest] = positionals;
  if (values.help || name === "help") return undefined;
  if (name === undefined) throw new CliError(2, `a command is missing: ${names()}`);
  if (!isCommand(name))
    throw new CliError(2, `there is no command "${name}"; there are ${names()}, render, check, demo`);
  const shape: Shape = COMMANDS[name];
  if (rest.length > 0 || (argument !== undefined && shape.argument === undefined)) {
    throw new CliError(2, `${name}: "${rest[0] ?? argument}" is one word too many`);
  }
  if (argument === undefined && shape.argument?.isRequired) {
    throw new CliError(2, `${name}: a <${shape.argument.name}> is missing`);
  }
  for (const option of Object.keys(values) as OptionName[]) {
    if (!shape.options.includes(option) && !CONNECTION.includes(option)) {
      throw new CliError(2, `${name}: has no --${option}`);
    }
  }
  for (const option of shape.required ?? []) {
    if (!values[option])
      throw new CliError(2, `${name}: --${option} is required, like --${option} "driver update"`);
  }
  const { json = false, help: _, ...options } = values;
  return { name, argument, options, isJson: json };
}

/** For the log, when nothing else is given. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no entry in /etc/passwd.
    return process.env.USER ?? "unknown";
  }
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (cause) {
    // Its second sentence is about words that begin with a dash.
    throw new CliError(2, (cause as Error).message.split(". ")[0] ?? "", { cause });
  }
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

function names(): string {
  return Object.keys(COMMANDS).join(", ");
}

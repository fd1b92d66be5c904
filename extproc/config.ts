import { existsSync, readFileSync } from "node:fs";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { ConfigError } from "./config-error.js";
import { LOG_LEVELS } from "./telemetry/log.js";
import { FAMILY_NAMES } from "./tokens/settings.js";
import { TEMPLATE_NAMES } from "./tokens/template.js";

/** Names the variable that holds the path of our YAML file. */
export const CONFIG_VARIABLE = "LLM_BREAKER_CONFIG";

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

const duration = z.unknown().transform((text, context) => {
  const match = typeof text === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) : null;
  if (match) return Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? 0);
  context.issues.push({ code: "custom", input: text, message: 'must be a duration like "150ms" or "10s"' });
  return z.NEVER;
});

const address = z.string().refine(
  (text) => {
    const match = /^(\[[0-9a-fA-F:.]+\]|[^:\s[\]]+):(\d{1,5})$/.exec(text);
    return match !== null && Number(match[2]) <= 65_535;
  },
  { message: "must be host:port" },
);

const count = (least: number) =>
  z.number("must be a whole number").int("must be a whole number").min(least, `must be at least ${least}`);

const tokenizer = z.strictObject({
  models: z.array(z.string().min(1, "must not be empty")).min(1, "must name at least one model pattern"),
  file: z.string().refine((path) => existsSync(path), { message: "must be a tokenizer.json that exists" }),
  template: z.enum(TEMPLATE_NAMES).default("plain"),
});

const schema = z.strictObject({
  listen: z
    .strictObject({ grpc: address.default("127.0.0.1:9002"), http: address.default("127.0.0.1:9003") })
    .prefault({}),
  log: z.strictObject({ level: z.enum(LOG_LEVELS).default("info") }).prefault({}),
  /** How long open streams may take to finish after SIGTERM. */
  drainTimeout: duration.prefault("10s"),
  /** Bodies above it (after decompression) are not rewritten. Bytes. */
  maxBodyBytes: count(1024).default(16_777_216),
  tokens: z
    .strictObject({
      /** Bodies above it (after decompression) are not parsed: their byte length is the bound. Bytes. */
      maxParseBytes: count(1024).default(4_194_304),
      /** Texts above it are not tokenized: their upper bound is the answer. UTF-8 bytes per request. */
      maxTextBytes: count(0).default(262_144),
      /** A count that takes longer is answered by its upper bound. */
      timeLimit: duration.prefault("150ms"),
      /** From here on a text is large and waits for one of `largeConcurrency` places. UTF-8 bytes. */
      largeTextBytes: count(1).default(16_384),
      largeConcurrency: count(1).default(2),
      /** What a model that no pattern knows is counted with; its counts are never `exact`. */
      defaultFamily: z.enum(FAMILY_NAMES).default("qwen3"),
      /** Flat cost of a picture: a 1024 × 1024 one in high detail by OpenAI's rule. Tokens. */
      imageTokens: count(0).default(765),
      /** Flat cost of a sound: 30 s at OpenAI's 10 tokens a second. Tokens. */
      audioTokens: count(0).default(300),
    })
    .prefault({}),
  /** Operator's own vocabularies; the first whose pattern fits wins over the shipped ones. */
  tokenizers: z.array(tokenizer).default([]),
});

export type ServiceConfig = Readonly<z.output<typeof schema>>;

/**
 * Defaults, then everything validated at once.
 * @throws ConfigError whose one-line message names each bad field, the rule and what was given.
 */
export function parseConfig(raw: unknown): ServiceConfig {
  const parsed = schema.safeParse(raw ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigError(`EXTPROC config: ${parsed.error.issues.flatMap(describeIssue).join("; ")}`);
}

/**
 * Reads the file that LLM_BREAKER_CONFIG names; defaults when it is unset or empty.
 * @throws ConfigError when the file can't be read, is no YAML, or has a bad field.
 */
export function loadConfig(environment: NodeJS.ProcessEnv): ServiceConfig {
  const file = environment[CONFIG_VARIABLE];
  return parseConfig(file ? readYaml(file) : {});
}

function readYaml(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const remedy = `${CONFIG_VARIABLE} must name a readable YAML file (unset it for the defaults)`;
    throw new ConfigError(`EXTPROC config: ${remedy}, got ${JSON.stringify(file)}`, { cause });
  }
  try {
    return parseYaml(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n", 1)[0] : String(cause);
    throw new ConfigError(`EXTPROC config: ${file} must be valid YAML: ${reason}`, { cause });
  }
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = formatPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(
      (key) => `${path ? `${path}.` : ""}${key} is unknown, remove it or check its spelling`,
    );
  }
  const rule =
    issue.code === "invalid_value"
      ? `must be one of ${issue.values.map(String).join(", ")}`
      : issue.code === "invalid_type"
        ? `must be ${article(issue.expected)}`
        : issue.message;
  return [`${path || "the file"} ${rule}, got ${JSON.stringify(issue.input) ?? "nothing"}`];
}

function article(expected: string): string {
  if (expected === "object") return "a map of settings";
  if (expected === "array") return "a list";
  if (expected === "number" || expected === "int") return "a whole number";
  return `a ${expected}`;
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

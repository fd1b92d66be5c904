import { readDocument, type SettingsDocument } from "../config/document.js";
import { ConfigError, formatPath, type Problem } from "../config/errors.js";
import { describeIssue } from "../config/issues.js";
import { placeOfFault, policyFaults } from "../policy-check.js";
import { BODY_KEYS, DEGRADING_KEYS } from "./backend-fields.js";
import { clusterProblems } from "./cluster-names.js";
import { compactJson } from "./compact-json.js";
import type { Plan, PlannedChain, PlannedService } from "./plan.js";
import { plannedBackend } from "./planned-backend.js";
import { DEFAULT_SERVICE, type PolicyFields, policySchema } from "./policy-schema.js";
import { attemptsFor, entriesOf, isMap, mapOf, needsService, policyOf } from "./policy-text.js";
import { probeModels } from "./probe-models.js";

const DEFAULT_ANSWER_TIMEOUT_MS = 120_000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * What policy.yaml asks for.
 * @throws ConfigError with line and column of everything that is wrong; Error when the policy's parser is not built.
 */
export function readPolicy(text: string, file: string): Plan {
  const document = readDocument(text);
  if ("problems" in document) throw new ConfigError(document.problems, file);
  const given = withoutEmpty(document.value ?? {});
  const parsed = policySchema.safeParse(given, { reportInput: true });
  const own = parsed.success ? [] : parsed.error.issues.flatMap((issue) => describeIssue(issue));
  const raw = mapOf(given);
  const policy = policyFor(raw);
  const problems = [
    ...own,
    ...policyProblems(policy, raw, own),
    ...reachProblems(raw),
    ...clusterProblems(raw),
  ];
  if (problems.length > 0 || !parsed.success) throw new ConfigError(locate(problems, document), file);
  return planOf(parsed.data, policy);
}

/** A backend of which nothing is said is one that is there already. */
function withoutEmpty(given: unknown): unknown {
  const { backends } = mapOf(given);
  if (!isMap(backends)) return given;
  const filled = Object.entries(backends).map(([alias, fields]) => [alias, fields ?? {}]);
  return { ...mapOf(given), backends: Object.fromEntries(filled) };
}

type Fields = Readonly<Record<string, unknown>>;

function policyFor(raw: Fields): Fields {
  const backends = mapOf(raw.backends);
  const hasService = raw.service !== undefined || needsService(raw) || asksForBodies(backends);
  const name = typeof raw.name === "string" ? raw.name : "llm";
  return policyOf(raw, name, {
    hasService,
    rewritesBody: (alias) => hasAny(mapOf(backends[alias]), BODY_KEYS),
    clusterOf: (alias) => {
      const { cluster } = mapOf(backends[alias]);
      return typeof cluster === "string" ? cluster : alias;
    },
    ...probeModels(raw),
  });
}

function asksForBodies(backends: Fields): boolean {
  return Object.values(backends).some((each) => hasAny(mapOf(each), [...BODY_KEYS, ...DEGRADING_KEYS]));
}

function hasAny(fields: Fields, keys: readonly string[]): boolean {
  return keys.some((key) => fields[key] !== undefined);
}

/** What its parser says, at the place in policy.yaml that has the same name. What is known to be wrong already is told once. */
function policyProblems(policy: Fields, raw: Fields, known: readonly Problem[]): Problem[] {
  const told = new Set(known.map(({ path }) => formatPath(path)));
  return policyFaults(JSON.stringify(policy))
    .map((text) => ({ text, ...placeOfFault(text, raw) }))
    .filter(({ path }) => !told.has(formatPath(path)));
}

/** A chain that nothing would ever choose. */
function reachProblems(raw: Fields): Problem[] {
  const chains = entriesOf(raw.chains);
  if (chains.length < 2) return [];
  return chains
    .filter(([name, chain]) => !isReached(mapOf(chain)) && raw.defaultChain !== name)
    .map(([name]) => ({
      path: ["chains", name],
      text: `chains.${name} is chosen by nothing: give it models, a prefix, or name it in defaultChain`,
    }));
}

function isReached({ models, prefix }: Fields): boolean {
  return prefix !== undefined || (Array.isArray(models) && models.length > 0);
}

function locate(problems: readonly Problem[], document: SettingsDocument): Problem[] {
  return problems
    .map((problem) => ({
      ...problem,
      position: document.positionOf(problem.path, problem.isKey === true),
    }))
    .sort((one, other) => one.position.line - other.position.line);
}

function planOf(fields: PolicyFields, policy: Fields): Plan {
  return {
    name: fields.name,
    listen: fields.listen,
    backends: Object.entries(fields.backends).map(([alias, backend]) => plannedBackend(alias, backend)),
    chains: Object.entries(fields.chains).map(([name, chain]) => plannedChain(name, chain, fields)),
    policy: compactJson(policy),
    service: policy.service === undefined ? undefined : plannedService(fields.service),
    isTraced: policy.tracing === true,
  };
}

function plannedChain(
  name: string,
  chain: Fields & PolicyFields["chains"][string],
  fields: PolicyFields,
): PlannedChain {
  const { tiers, models = [], prefix } = chain;
  const isOnly = Object.keys(fields.chains).length === 1;
  return {
    name,
    tiers,
    models,
    prefix,
    isDefault: fields.defaultChain === name || (isOnly && models.length === 0),
    maxAttempts: attemptsFor(chain),
    answerTimeoutMs: durationMs(chain.answerTimeout) ?? DEFAULT_ANSWER_TIMEOUT_MS,
    isFixed: chain.routing === "fixed",
  };
}

function plannedService(given: PolicyFields["service"]): PlannedService {
  return typeof given === "object" ? given : { ...DEFAULT_SERVICE, host: given ?? DEFAULT_SERVICE.host };
}

/** Its parser has taken it. */
function durationMs(given: unknown): number | undefined {
  const [, number, unit] = /^([\d.]+)(ms|s|m|h)$/.exec(String(given)) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (UNIT_MS[unit ?? ""] ?? 1));
}

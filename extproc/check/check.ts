import { plainText } from "../cli/plain.js";
import { RULES } from "./rules/all.js";
import type { Found, Level, Rule } from "./rules/rule.js";
import { type CheckedFile, readSetup } from "./setup/read.js";
import type { Setup, Version, Versions } from "./setup/setup.js";
import type { Place } from "./tree/located.js";

export interface Finding extends Place {
  readonly rule: string;
  readonly level: Level;
  readonly what: string;
  /** What happens to callers. */
  readonly harm: string;
  readonly fix: string;
}

export interface Report {
  readonly findings: readonly Finding[];
  /** None of the files has anything of the breaker. */
  readonly usesBreaker: boolean;
  readonly setup: Setup;
}

export interface CheckOptions {
  readonly envoy?: Version | undefined;
  readonly istio?: Version | undefined;
  /** The gate's policy, where it comes from elsewhere (ECDS, WasmPlugin). */
  readonly policy?: CheckedFile | undefined;
}

/** The newest that the breaker is tested with. */
const NEWEST: Versions = { envoy: [1, 40], istio: undefined };
/** A rule that finds the same thing everywhere has said enough. */
const MAX_FINDINGS_OF_RULE = 20;

/** Judges files as one set-up: a route in the one may name a cluster in the other. Nothing that is in them is thrown. */
export function checkFiles(files: readonly CheckedFile[], options: CheckOptions = {}): Report {
  const versions = { envoy: options.envoy ?? NEWEST.envoy, istio: options.istio };
  const setup = readSetup(files, versions, options.policy);
  const order = new Map(files.map(({ name }, index) => [name, index]));
  const findings = RULES.flatMap((rule) => findingsOf(rule, setup));
  findings.sort(
    (a, b) => (order.get(a.file) ?? 0) - (order.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
  return { findings, usesBreaker: setup.usesBreaker, setup };
}

function findingsOf(rule: Rule, setup: Setup): Finding[] {
  const seen = new Map<string, Finding>();
  for (const found of rule.find(setup)) {
    const finding = findingOf(rule, found);
    // Aliases stand at one place however often they are used.
    const key = `${finding.file}:${finding.line}:${finding.column}`;
    if (!seen.has(key)) seen.set(key, finding);
    if (seen.size >= MAX_FINDINGS_OF_RULE) break;
  }
  return [...seen.values()];
}

function findingOf({ id, level, harm, fix }: Rule, found: Found): Finding {
  return {
    ...found.at.place,
    rule: id,
    level,
    what: plainText(found.what),
    harm,
    fix: plainText(found.fix ?? fix),
  };
}

import { spawnSync } from "node:child_process";
import { runningNpm } from "../running-npm.mjs";
import { ADVISORIES } from "./allowed.mjs";

const LIMIT_MS = 60_000;
const SERIOUS = ["high", "critical"];

/**
 * Asks npm's registry what is known about the locked packages.
 * @param {string} folder
 * @returns {{ answer: any } | { silent: string }} `silent`: the registry does not tell, and why
 */
export function askRegistry(folder) {
  const [program = "", ...before] = runningNpm();
  const ran = spawnSync(program, [...before, "audit", "--json", "--package-lock-only"], {
    cwd: folder,
    encoding: "utf8",
    timeout: LIMIT_MS,
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (ran.error !== undefined) return { silent: ran.error.message };
  const answer = parsed(ran.stdout);
  if (answer?.vulnerabilities !== undefined) return { answer };
  return {
    silent: String(answer?.message ?? answer?.error?.summary ?? ran.stderr.split("\n")[0] ?? "no JSON").slice(
      0,
      200,
    ),
  };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Serious advisories that no line of the allow-list takes out, and lines whose day is over or that nothing needs.
 * @param {any} answer of `npm audit --json`
 * @param {Date} today
 * @param {Readonly<Record<string, { why: string, until: string }>>} allowed
 * @returns {string[]}
 */
export function advisoryFaults(answer, today, allowed = ADVISORIES) {
  const told = Object.values(answer.vulnerabilities ?? {}).flatMap(({ via = [] }) =>
    via.filter((/** @type {unknown} */ each) => typeof each === "object"),
  );
  const serious = told.filter(({ severity }) => SERIOUS.includes(severity));
  const idOf = (/** @type {{ url?: string, source?: number }} */ each) =>
    each.url?.split("/").at(-1) ?? String(each.source);
  const day = today.toISOString().slice(0, 10);
  const faults = serious
    .filter((each) => (allowed[idOf(each)]?.until ?? "") < day)
    .map((each) => `${each.name}: ${each.severity}, ${each.title} (${idOf(each)})`);
  const found = new Set(told.map(idOf));
  const unused = Object.keys(allowed).filter((id) => !found.has(id));
  return [
    ...new Set(faults),
    ...unused.map((id) => `scripts/audit/allowed.mjs: nothing needs the line of ${id}`),
  ];
}

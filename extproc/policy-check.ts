import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replayAll } from "./control/replay.js";
import { findRepoRoot } from "./root.js";

const MODULE = join("build", "llm-breaker-dry-run.wasm");

let module: WebAssembly.Module | undefined;

/**
 * What Envoy would say to a policy, one text a fault, by the filter's own parser: `backends.gpu.contextWindow must be …`.
 * @throws Error when the parser is not built.
 */
export function policyFaults(policy: string): string[] {
  module ??= loadParser();
  const answer = replayAll({ module, policy, records: new Map(), seconds: 0 });
  return "error" in answer ? faultsIn(answer.error) : [];
}

function loadParser(): WebAssembly.Module {
  const file = join(findRepoRoot(), MODULE);
  if (!existsSync(file)) throw new Error(`${MODULE} is not built: npm run build:filter`);
  return new WebAssembly.Module(readFileSync(file));
}

/** They stand in one line; what they quote, and the list of known fields, may have a semicolon of its own. */
function faultsIn(line: string): string[] {
  const faults: string[] = [];
  for (const piece of line.split("; ")) {
    const last = faults.at(-1);
    const isInside = piece.startsWith("known here: ") || (last?.split('"').length ?? 1) % 2 === 0;
    if (last !== undefined && isInside) faults[faults.length - 1] = `${last}; ${piece}`;
    else faults.push(piece);
  }
  return faults;
}

/**
 * Where in the policy a fault lies: the names that it begins with, as far as the policy has them. `isKey`: the name itself is what is
 * wrong.
 */
export function placeOfFault(fault: string, policy: unknown): { path: PropertyKey[]; isKey: boolean } {
  const path: PropertyKey[] = [];
  let rest = fault;
  let value = policy;
  for (;;) {
    const index = Array.isArray(value) ? /^\[(\d+)\]/.exec(rest) : undefined;
    if (index) {
      path.push(Number(index[1]));
      rest = rest.slice(index[0].length);
      value = (value as readonly unknown[])[Number(index[1])];
    } else {
      const key = keyAt(rest, value);
      if (key === undefined) break;
      path.push(key);
      rest = rest.slice(key.length);
      value = (value as Record<string, unknown>)[key];
    }
    rest = rest.replace(/^\./, "");
  }
  return { path, isKey: /^ ?is unknown/.test(rest) };
}

/** Names may hold blanks and dots: the longest that fits is meant. */
function keyAt(rest: string, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fitting = Object.keys(value).filter((key) => {
    return rest.startsWith(key) && /^[. [,]/.test(rest.slice(key.length));
  });
  return fitting.sort((one, other) => other.length - one.length)[0];
}

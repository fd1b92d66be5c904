import type { Problem } from "../config/errors.js";
import { ASKED_CLUSTER } from "./parts/service.js";
import { STOP_CLUSTER } from "./parts/upstream.js";
import { entriesOf, mapOf, SERVICE_CLUSTER } from "./policy-text.js";

/** Clusters of ours, and a name that JavaScript has for something else. */
const RESERVED: readonly string[] = [STOP_CLUSTER, ASKED_CLUSTER, SERVICE_CLUSTER, "__proto__"];

/** A cluster tells one backend's name, and is one. */
export function clusterProblems(raw: Readonly<Record<string, unknown>>): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  for (const [alias, given] of entriesOf(raw.backends)) {
    const { cluster } = mapOf(given);
    const name = typeof cluster === "string" ? cluster : alias;
    const path = ["backends", alias, ...(name === alias ? [] : ["cluster"])];
    const refuse = (text: string) => problems.push({ path, text: `${path.join(".")} ${text}` });
    const other = seen.get(name);
    if (RESERVED.includes(name)) refuse(`must not be ${name}, which is a name of the breaker's own`);
    else if (other !== undefined) {
      refuse(
        `is the cluster ${name} of backends.${other} too: one cluster is one backend, so make another cluster to the same hosts`,
      );
    }
    seen.set(name, alias);
  }
  return problems;
}

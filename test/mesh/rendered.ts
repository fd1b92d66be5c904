import { parseAllDocuments } from "yaml";
import { readPolicy } from "../../extproc/render/policy-file.js";
import type { Rendered, Target, TargetValues } from "../../extproc/render/target.js";

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: unknown;
}

export interface RenderedObjects extends Rendered {
  readonly objects: readonly KubernetesObject[];
}

export function rendered(target: Target, policy: string, values: TargetValues = {}): RenderedObjects {
  const { text, notes } = target.write(readPolicy(policy, "policy.yaml"), values);
  const documents = parseAllDocuments(text);
  const problems = documents.flatMap(({ errors }) => errors.map(({ message }) => message));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const objects = documents
    .map((each) => each.toJS() as KubernetesObject | null)
    .filter((each) => each !== null);
  return { text, notes, objects };
}

export function only<T>(objects: readonly KubernetesObject[], kind: string): T {
  const found = objects.filter((each) => each.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} of ${kind}`);
  return found[0] as T;
}

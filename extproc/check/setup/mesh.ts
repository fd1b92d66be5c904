import type { Located } from "../tree/located.js";
import type { Setup } from "./setup.js";

/** A Kubernetes object into what rules look at. */
export function readMesh(at: Located, setup: Setup): void {
  const spec = at.at("spec");
  const kind = at.at("kind")?.text ?? "";
  if (spec === undefined) return;
  setup.objects.push({
    kind,
    name: at.at("metadata", "name")?.text ?? "",
    namespace: at.at("metadata", "namespace")?.text ?? "default",
    at,
    spec,
  });
}

import { Located } from "../tree/located.js";
import { readCluster, readRoute } from "./envoy.js";
import { readFilter } from "./filters.js";
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
  if (kind === "EnvoyFilter") for (const patch of spec.list("configPatches")) readPatch(patch, setup);
  if (kind === "EnvoyPatchPolicy") readJsonPatches(spec.list("jsonPatches"), setup);
}

/** One patch of an EnvoyFilter. What Istio makes itself is not there, so most of it is only a part. */
function readPatch(patch: Located, setup: Setup): void {
  const value = patch.at("patch", "value");
  const operation = patch.at("patch", "operation")?.text ?? "";
  if (value === undefined) return;
  const target = patch.at("applyTo")?.text;
  if (target === "HTTP_FILTER") {
    const filter = readFilter(value);
    // Of two that go before one anchor the first stays first; behind one, or to the front, it comes second.
    if (operation === "INSERT_AFTER" || operation === "INSERT_FIRST") setup.partFilters.unshift(filter);
    else setup.partFilters.push(filter);
  } else if (target === "CLUSTER") {
    setup.clusters.push(
      readCluster(value, clusterName(patch) ?? value.textOf("name") ?? "", operation !== "ADD"),
    );
  } else if (target === "HTTP_ROUTE") {
    setup.partRoutes.push(readRoute(value, value.get("route") ?? value, { isPart: true }));
  } else if (target === "LISTENER") setup.partListeners.push(value);
}

function clusterName(patch: Located): string | undefined {
  const match = patch.at("match", "cluster");
  return match?.at("service")?.text ?? match?.at("name")?.text;
}

/** Envoy Gateway's: what they add to one resource is put together, as far as their paths tell where. */
function readJsonPatches(patches: readonly Located[], setup: Setup): void {
  const resources = new Map<string, { type: string; name: string; root: Located; filters: Located[] }>();
  for (const patch of patches) {
    const type = patch.at("type")?.text?.split(".").at(-1) ?? "";
    const name = patch.at("name")?.text ?? "";
    const operation = patch.at("operation");
    const value = operation?.at("value");
    if (operation === undefined || value === undefined) continue;
    const path = operation.at("path")?.text ?? "";
    if (path === "" && operation.at("jsonPath") === undefined) {
      // A resource of its own, whole.
      if (type === "Cluster") setup.clusters.push(readCluster(value, value.textOf("name") ?? name));
      else if (type === "RouteConfiguration") setup.tables.push(value);
      continue;
    }
    const key = JSON.stringify([type, name, operation.at("jsonPath")?.text]);
    const present = resources.get(key);
    const resource = present ?? {
      type,
      name,
      root: new Located(patch.source, patch.offset, new Map()),
      filters: [],
    };
    resources.set(key, resource);
    place(resource, path, value);
  }
  for (const { type, name, root, filters } of resources.values()) {
    setup.partFilters.push(...filters.map(readFilter));
    if (type === "Cluster") setup.clusters.push(readCluster(root, name, true));
    const route = root.get("route") ?? (root.get("retry_policy") ? root : undefined);
    if (type === "RouteConfiguration" && route)
      setup.partRoutes.push(readRoute(root, route, { isPart: true }));
  }
}

function place(
  resource: { type: string; root: Located; filters: Located[] },
  path: string,
  value: Located,
): void {
  const steps = path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = steps.at(-1) ?? "";
  if (resource.type === "Listener" && steps.at(-2) === "http_filters") {
    const index = /^\d+$/.test(last) ? Number(last) : resource.filters.length;
    resource.filters.splice(Math.min(index, resource.filters.length), 0, value);
    return;
  }
  let node = resource.root;
  for (const step of steps.slice(0, -1)) {
    const fields = new Map(node.fields);
    const next = fields.get(step) ?? new Located(value.source, value.offset, new Map());
    node.content = fields.set(step, next);
    node = next;
  }
  if (last !== "") node.content = new Map(node.fields).set(last, value);
}

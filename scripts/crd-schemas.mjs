#!/usr/bin/env node
// Writes test/mesh/schemas: JSON Schemas of the Kubernetes kinds that `render` writes, strict, without descriptions, out of the published
// Go modules. Needs Go and the module proxy; run it after a change of MODULES. `npm test` reads only what it wrote.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const target = join(dirname(fileURLToPath(import.meta.url)), "..", "test", "mesh", "schemas");
const modules = [
  {
    module: "istio.io/api@v1.32.0",
    path: "kubernetes/customresourcedefinitions.gen.yaml",
    kinds: ["EnvoyFilter", "DestinationRule", "ServiceEntry", "VirtualService"],
  },
  {
    module: "github.com/envoyproxy/gateway@v1.9.0",
    path: "charts/gateway-crds-helm/templates/generated",
    kinds: ["EnvoyPatchPolicy", "EnvoyProxy", "BackendTrafficPolicy", "Backend"],
  },
  {
    module: "sigs.k8s.io/gateway-api@v1.6.3",
    path: "config/crd/standard",
    kinds: ["Gateway", "GatewayClass", "HTTPRoute"],
  },
  {
    module: "sigs.k8s.io/gateway-api-inference-extension@v1.5.0",
    path: "config/crd/bases",
    kinds: ["InferencePool"],
  },
];
const kubernetes = {
  module: "k8s.io/kubernetes@v1.34.0",
  path: "api/openapi-spec/swagger.json",
  definitions: [
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.policy.v1.PodDisruptionBudget",
    "io.k8s.api.networking.v1.NetworkPolicy",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
  ],
};

/** @type {Record<string, string>} */
const sources = {};
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const { module, path, kinds } of modules) {
  for (const definition of definitionsIn(join(download(module), path))) {
    if (!kinds.includes(definition.spec.names.kind)) continue;
    const versions = new Set(
      definition.spec.names.kind === "EnvoyFilter" ? ["v1alpha3"] : ["v1", "v1alpha1"],
    );
    for (const { name, schema } of definition.spec.versions.filter(({ name }) => versions.has(name))) {
      write(
        `${definition.spec.group}_${name}_${definition.spec.names.kind}`,
        module,
        withHead(strict(schema.openAPIV3Schema)),
      );
    }
  }
}
writeKubernetes(JSON.parse(readFileSync(join(download(kubernetes.module), kubernetes.path), "utf8")));
const note = {
  note: "Written by scripts/crd-schemas.mjs; each is derived from the Apache-2.0 licensed module named.",
  sources,
};
writeFileSync(join(target, "sources.json"), `${JSON.stringify(note, undefined, 2)}\n`);

/** @param {string} module */
function download(module) {
  const ran = spawnSync("go", ["mod", "download", "-json", module], { encoding: "utf8" });
  const { Dir, Error: reason } = JSON.parse(ran.stdout || "{}");
  if (!Dir) throw new Error(`${module}: ${reason ?? ran.stderr}`);
  return Dir;
}

/** @param {string} path @returns {any[]} */
function definitionsIn(path) {
  const files = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path];
  return files
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => readFileSync(file, "utf8").replaceAll(/^\{\{.*\}\}$/gm, ""))
    .flatMap((text) => parseAllDocuments(text).map((each) => each.toJS()))
    .filter((each) => each?.kind === "CustomResourceDefinition");
}

/** Istio's leave out what all objects have. @param {any} schema */
function withHead(schema) {
  const head = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } };
  return { ...schema, properties: { ...schema.properties, ...head } };
}

/** @param {string} name @param {string} module @param {unknown} schema */
function write(name, module, schema) {
  sources[`${name}.json`] = module;
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(schema)}\n`);
}

/** @param {any} swagger */
function writeKubernetes({ definitions }) {
  for (const name of kubernetes.definitions) {
    /** @type {Record<string, unknown>} */
    const needed = {};
    gather(name, definitions, needed);
    const [{ group, version, kind }] = definitions[name]["x-kubernetes-group-version-kind"];
    write(`${group || "core"}_${version}_${kind}`, kubernetes.module, {
      $ref: `#/definitions/${name}`,
      definitions: needed,
    });
  }
}

/** @param {string} name @param {any} all @param {Record<string, unknown>} needed */
function gather(name, all, needed) {
  if (name in needed) return;
  // Either may stand there.
  if (/IntOrString$/.test(name)) needed[name] = { type: ["integer", "string"] };
  else if (/Quantity$/.test(name)) needed[name] = { type: ["number", "string"] };
  else needed[name] = strict(all[name]);
  for (const [, referred] of JSON.stringify(needed[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    gather(referred, all, needed);
}

/**
 * Structure only: no descriptions, no rules in CEL, and no field that is not named.
 * @param {any} node
 * @returns {any}
 */
function strict(node) {
  if (Array.isArray(node)) return node.map(strict);
  if (typeof node !== "object" || node === null) return node;
  const { description, default: _, example, format, ...others } = node;
  if (others["x-kubernetes-int-or-string"]) return { type: ["integer", "string"] };
  const kept = Object.entries(others).filter(([key]) => !key.startsWith("x-kubernetes-"));
  const result = Object.fromEntries(
    kept.map(([key, each]) => [key, key === "properties" ? properties(each) : strict(each)]),
  );
  const isOpen = node["x-kubernetes-preserve-unknown-fields"] || node["x-kubernetes-embedded-resource"];
  if (result.properties && !isOpen && result.additionalProperties === undefined) {
    if (result.properties.metadata?.properties === undefined && node.properties.metadata?.type === "object")
      result.properties.metadata = true;
    result.additionalProperties = false;
  }
  return result;
}

/** @param {Record<string, unknown>} fields */
function properties(fields) {
  return Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, strict(each)]));
}

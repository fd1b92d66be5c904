import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { findRepoRoot } from "../support/repo-root.js";
import type { KubernetesObject } from "./rendered.js";

const folder = join(findRepoRoot(), "test", "mesh", "schemas");
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const known = new Map<string, ValidateFunction>();

/** What is wrong with the object by its kind's own schema; unknown fields are. */
export function schemaFaults(object: KubernetesObject): readonly string[] {
  const [group = "", version] = object.apiVersion.includes("/")
    ? object.apiVersion.split("/")
    : ["core", object.apiVersion];
  const name = `${group}_${version}_${object.kind}.json`;
  const validate = known.get(name) ?? compiled(name);
  if (validate === undefined) return [`no schema ${name}`];
  known.set(name, validate);
  const isValid: boolean = validate(object);
  if (isValid) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${object.kind} ${object.metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}

function compiled(name: string): ValidateFunction | undefined {
  const file = join(folder, name);
  if (!existsSync(file)) return undefined;
  return ajv.compile(JSON.parse(readFileSync(file, "utf8")) as object);
}

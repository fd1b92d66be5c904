import { serviceSchema } from "../../service-config.js";
import type { Located } from "../tree/located.js";
import { readYaml, type TreeProblem } from "../tree/yaml.js";
import { readMesh } from "./mesh.js";
import { baseOf, type PolicyView, policiesOf, readPolicy } from "./policy.js";
import { EnvoyReader } from "./resources.js";
import { Setup, type Versions } from "./setup.js";

/** A file as it was read. */
export interface CheckedFile {
  readonly name: string;
  readonly text: string;
}

/** Kubernetes lets a ConfigMap hold files, and a file hold objects. */
const MAX_NESTING = 3;
const SERVICE_KEYS = Object.keys(serviceSchema.shape);
const FOREIGN_KEYS = ["static_resources", "dynamic_resources", "apiVersion", "resources", "backends", "name"];

export function readSetup(files: readonly CheckedFile[], versions: Versions, policy?: CheckedFile): Setup {
  const problems: TreeProblem[] = [];
  const setup = new Setup(versions, problems);
  const reader = new EnvoyReader(setup);
  const read = (roots: readonly Located[], nesting: number): void => {
    for (const root of roots) {
      if (root.at("kind")?.text === "List") read(root.list("items"), nesting);
      else if (root.at("apiVersion") && root.at("kind")) {
        readMesh(root, setup);
        if (nesting < MAX_NESTING) for (const inner of filesIn(root)) read(take(inner), nesting + 1);
      } else if (isServiceFile(root)) setup.serviceFiles.push(root);
      else if (isPolicy(root))
        setup.loosePolicies.push(readPolicy(root, root.source.text, { line: 1, column: 1 }));
      else reader.readDocument(root);
    }
  };
  const take = (trees: ReturnType<typeof readYaml>): readonly Located[] => {
    problems.push(...trees.problems);
    return trees.roots;
  };
  for (const { name, text } of files) read(take(readYaml(name, text)), 0);
  const given = policy === undefined ? undefined : givenPolicy(policy);
  setup.policies = policiesOf(setup.filters, [...setup.loosePolicies, ...(given ? [given] : [])]);
  setup.seal();
  return setup;
}

function givenPolicy({ name, text }: CheckedFile): PolicyView | undefined {
  const [root] = readYaml(name, text).roots;
  return root && readPolicy(root, text, { line: 1, column: 1 });
}

function isServiceFile(root: Located): boolean {
  const keys = [...root.fields.keys()];
  if (keys.length === 0 || keys.some((key) => FOREIGN_KEYS.includes(key))) return false;
  return keys.filter((key) => SERVICE_KEYS.includes(key)).length * 2 >= keys.length;
}

/** The gate's JSON alone, as dry-run takes it. */
function isPolicy(root: Located): boolean {
  return (
    root.at("backends") !== undefined &&
    root.at("chains") !== undefined &&
    root.source.text.trimStart().startsWith("{")
  );
}

/** What a ConfigMap holds, as files of their own. */
function filesIn(object: Located): ReturnType<typeof readYaml>[] {
  if (object.at("kind")?.text !== "ConfigMap") return [];
  return [...(object.at("data")?.fields ?? [])].flatMap(([key, value]) => {
    const isFile = /\.(ya?ml|json)$/.test(key) && typeof value.content === "string";
    return isFile ? [readYaml(value.source.name, value.content as string, baseOf(value))] : [];
  });
}

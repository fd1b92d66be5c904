// What Envoy Gateway does with an EnvoyPatchPolicy, for the operations and paths that ours have: internal/xds/translator/jsonpatch.go.

export interface JsonPatch {
  readonly type: string;
  readonly name: string;
  readonly operation: {
    readonly op: string;
    readonly jsonPath?: string;
    readonly path?: string;
    readonly value?: unknown;
  };
}

type Fields = Record<string, unknown>;
type Resources = Readonly<Record<string, Map<string, Fields>>>;

/** What could not be applied; the rest is. */
export function applyJsonPatches(resources: Resources, patches: readonly JsonPatch[]): readonly string[] {
  return patches.flatMap(({ type, name, operation }) => {
    const kind = resources[type.split(".").at(-1) ?? ""];
    const { op, jsonPath, path = "", value } = operation;
    if (op === "add" && path === "" && jsonPath === undefined) {
      kind?.set(name, value as Fields);
      return [];
    }
    const resource = kind?.get(name);
    if (resource === undefined) return [`no ${type} ${name}`];
    const places = jsonPath === undefined ? [[]] : placesOf(resource, jsonPath);
    if (places.length === 0) return [`${jsonPath} finds nothing in ${name}`];
    const steps = path.split("/").slice(1);
    // From the last on, so that the indices of the others stay.
    return places.toReversed().flatMap((place) => applyOne(resource, [...place, ...steps], op, value));
  });
}

/** Of `..list[?(@.name=='x')]` and `..list[?match(@.name, 'regex')]`. */
function placesOf(resource: Fields, jsonPath: string): string[][] {
  const [, list = "", exact, pattern] =
    /^\.\.(\w+)\[\?(?:\(@\.name=='(.*)'\)|match\(@\.name, '(.*)'\))\]$/.exec(jsonPath) ?? [];
  const regex = new RegExp(`^(?:${exact?.replaceAll(".", "\\.") ?? pattern ?? "(?!)"})$`);
  const found: string[][] = [];
  const walk = (node: unknown, at: readonly string[]): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const here = [...at, key];
      if (key === list && Array.isArray(value)) {
        value.forEach((each: Fields, index) => {
          if (regex.test(String(each.name))) found.push([...here, String(index)]);
        });
      }
      walk(value, here);
    }
  };
  walk(resource, []);
  return found;
}

function applyOne(resource: Fields, steps: readonly string[], op: string, value: unknown): readonly string[] {
  const parent = steps
    .slice(0, -1)
    .reduce<unknown>((node, step) => (node as Fields | undefined)?.[step], resource);
  const last = steps.at(-1) ?? "";
  if (typeof parent !== "object" || parent === null) return [`nothing at /${steps.slice(0, -1).join("/")}`];
  if (op === "add") {
    if (Array.isArray(parent))
      parent.splice(last === "-" ? parent.length : Number(last), 0, structuredClone(value));
    else (parent as Fields)[last] = structuredClone(value);
    return [];
  }
  if (op !== "remove") return [`op ${op}`];
  if (!(last in parent)) return [`nothing at /${steps.join("/")}`];
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Fields)[last];
  return [];
}

import { type Document, isCollection, isMap, isScalar, type Node, visit, type YAMLSeq } from "yaml";
import { Commented, plain, type YamlValue } from "../yaml/value.js";

/** Each wanted item with the one that is there; lists of one length go by place. */
export function matchItems(
  list: YAMLSeq,
  desired: readonly YamlValue[],
  document: Document.Parsed,
): [Node | undefined, YamlValue][] {
  const items = list.items as Node[];
  if (items.length === desired.length) return desired.map((wanted, at) => [items[at], wanted]);
  const theirs = items.map((item) => keyOf(item.toJS(document)));
  const ours = desired.map((wanted) => keyOf(plain(wanted)));
  const left = items.map((item, at) => ({ item, key: roughly(theirs[at], ours) }));
  return desired.map((wanted, index) => {
    const at = left.findIndex(({ key }) => key === roughly(ours[index], theirs));
    return [at < 0 ? undefined : left.splice(0, at + 1).at(-1)?.item, wanted];
  });
}

/** An item without a name, of which something changes, goes by nothing but its place among those like it. */
function roughly(key: string | undefined, others: readonly string[]): string | undefined {
  return key?.startsWith("{") && !others.includes(key) ? "{" : key;
}

/** What an item of a list goes by. */
function keyOf(value: unknown): string {
  if (isRecord(value)) {
    for (const name of ["name", "priority"]) {
      if (typeof value[name] === "string") return `${name} ${value[name]}`;
    }
  }
  return JSON.stringify(value);
}

export function canGoInto(node: Node | null, wanted: YamlValue): boolean {
  const value = bare(wanted);
  if (!isCollection(node) || (node.items.length === 0 && node.flow !== true)) return false;
  if (!isMap(node)) return Array.isArray(value);
  return isRecord(value) && Object.values(value).some((item) => item !== undefined);
}

export function holdsAnchor(node: Node): boolean {
  let isIn = false;
  visit(node, {
    Node: (_, { anchor }) => {
      if (anchor === undefined) return undefined;
      isIn = true;
      return visit.BREAK;
    },
  });
  return isIn;
}

export function bare(value: YamlValue): Exclude<YamlValue, Commented> {
  return value instanceof Commented ? bare(value.value) : value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, YamlValue>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function nameOf(key: Node): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** An item's name, if it has one. */
export function labelOf(item: Node): string {
  const name = isMap(item) ? item.get("name") : item;
  return isScalar(name) || typeof name === "string" ? String(name) : "an item";
}

export function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

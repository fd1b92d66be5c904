import { Alias, type Document, isMap, isPair, isScalar, visit, type YAMLMap } from "yaml";

/** What is worth a name of its own when it stands in a file more than once. */
const SHARED_KEYS: ReadonlySet<string> = new Set([
  "circuit_breakers",
  "vm_config",
  "processing_mode",
  "retry_policy",
]);
const SHARED_NAME = /^llm\.breaker\.(\w+)$|^envoy\.filters\.http\.upstream_(codec)$/;

/** Writes equal filters and settings once, and their alias after that. */
export function shareEqual(document: Document): void {
  const firsts = new Map<string, YAMLMap>();
  const anchors = new Set<string>();
  visit(document, {
    Map(key, node, path) {
      const name = nameOf(node, key === "value" ? path.at(-1) : undefined);
      if (name === undefined) return undefined;
      const text = JSON.stringify([name, node.toJSON()]);
      const first = firsts.get(text);
      if (first === undefined) {
        firsts.set(text, node);
        return undefined;
      }
      first.anchor ??= freeName(name, anchors);
      const alias = new Alias(first.anchor);
      alias.commentBefore = node.commentBefore;
      return alias;
    },
  });
}

function nameOf(node: YAMLMap, parent: unknown): string | undefined {
  if (isPair(parent) && isScalar(parent.key)) {
    const key = String(parent.key.value);
    return SHARED_KEYS.has(key) ? key : undefined;
  }
  const own = isMap(node) ? node.get("name") : undefined;
  const [, ours, codec] = SHARED_NAME.exec(String(own)) ?? [];
  return ours ?? codec;
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
  taken.add(free);
  return free;
}

import { isDeepStrictEqual } from "node:util";
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { plain, type YamlMap, type YamlValue } from "../yaml/value.js";
import { writeFlow, writeFragment } from "../yaml/writer.js";
import { CantReconcile } from "./cant-reconcile.js";
import { bare, canGoInto, holdsAnchor, isRecord, labelOf, matchItems, nameOf, startOf } from "./nodes.js";
import { columnOf, type Edit, lineEnd, lineStart, linesOfItem, nextLine, setIn } from "./text-edit.js";

/**
 * The edits that bring a document's text to a value, and leave every other byte as it is. Items of lists go by their names. What is put in
 * brings its comments; an alias whose anchor changes, or that has to become something else, is written out.
 * @throws CantReconcile
 */
export function reconcile(document: Document.Parsed, text: string, desired: YamlValue): Edit[] {
  const reconciler = new Reconciler(document, text);
  reconciler.learnAnchors(document.contents as Node | null, desired);
  reconciler.visit(document.contents as Node | null, desired, undefined);
  return reconciler.edits;
}

const COLUMNS = 110;

type MapPair = Pair<Node, Node | null>;

class Reconciler {
  readonly edits: Edit[] = [];
  /** What anchored values come to, where they change. */
  private readonly changed = new Map<string, unknown>();
  private readonly isJson: boolean;

  constructor(
    private readonly document: Document.Parsed,
    private readonly text: string,
  ) {
    this.isJson = text.trimStart().startsWith("{");
  }

  learnAnchors(node: Node | null, desired: YamlValue | undefined): void {
    if (!isCollection(node) || desired === undefined) return;
    if (node.anchor !== undefined && !this.isSame(node, desired))
      this.changed.set(node.anchor, plain(desired));
    const value = bare(desired);
    if (isMap(node) && isRecord(value)) {
      for (const { key, value: inner } of node.items as MapPair[])
        this.learnAnchors(inner, value[nameOf(key)]);
    } else if (isSeq(node) && Array.isArray(value)) {
      for (const [item, wanted] of matchItems(node, value, this.document)) {
        if (item !== undefined) this.learnAnchors(item, wanted);
      }
    }
  }

  /** `head` is the offset behind the key or the dash that the node belongs to. */
  visit(node: Node | null, desired: YamlValue, head: number | undefined): void {
    if (this.isRight(node, desired)) return;
    const value = bare(desired);
    if (isMap(node) && isRecord(value) && canGoInto(node, desired))
      this.visitMap(node as YAMLMap<Node, Node | null>, value);
    else if (isSeq(node) && Array.isArray(value)) this.visitSeq(node as YAMLSeq<Node>, value, head);
    else throw new CantReconcile(node?.range?.[0] ?? 0, "has another kind of value than is needed");
  }

  private visitMap(map: YAMLMap<Node, Node | null>, desired: YamlMap): void {
    const present = new Set(map.items.map(({ key }) => nameOf(key)));
    const added = Object.entries(desired).filter((entry): entry is [string, YamlValue] => {
      return entry[1] !== undefined && !present.has(entry[0]);
    });
    for (const pair of map.items) {
      const wanted = desired[nameOf(pair.key)];
      if (wanted === undefined) this.removePair(map, pair, added.shift());
      else this.visitPair(map, pair, wanted);
    }
    if (added.length > 0) this.addPairs(map, added);
  }

  private visitPair(map: YAMLMap<Node, Node | null>, pair: MapPair, wanted: YamlValue): void {
    const { key, value } = pair;
    if (this.isRight(value, wanted)) return;
    if (canGoInto(value, wanted) && !this.outgrowsItsLine(map, value, wanted))
      this.visit(value, wanted, key.range?.[1]);
    else this.replacePair(map, pair, nameOf(key), wanted);
  }

  /** A map in one line that is better written in several. One that holds an anchor stays, since aliases need it. */
  private outgrowsItsLine(above: YAMLMap, value: Node | null, wanted: YamlValue): boolean {
    if (this.isJson || !isCollection(value) || this.isFlow(above, 0) || !this.isFlow(value as YAMLMap, 0))
      return false;
    if (holdsAnchor(value)) return false;
    const [start = 0, end = 0] = value.range ?? [];
    return !this.text.slice(start, end).includes("\n") && writeFlow(wanted).length > COLUMNS;
  }

  private replacePair(map: YAMLMap, pair: MapPair, name: string, wanted: YamlValue): void {
    const start = startOf(pair.key);
    const end = Math.max(this.contentEnd(pair.value), this.colonEnd(pair));
    const fragment = this.isFlow(map, start)
      ? this.flowPair(name, wanted)
      : writeFragment({ [name]: bare(wanted) });
    this.edits.push({ start, end, text: setIn(fragment, columnOf(this.text, start)) });
  }

  private removePair(map: YAMLMap, pair: MapPair, instead: [string, YamlValue] | undefined): void {
    if (instead !== undefined) {
      this.replacePair(map, pair, instead[0], instead[1]);
      return;
    }
    const start = startOf(pair.key);
    const from = lineStart(this.text, start);
    if (this.isFlow(map, start) || this.text.slice(from, start).trim() !== "") {
      throw new CantReconcile(start, `${nameOf(pair.key)} has to go: remove it`);
    }
    this.edits.push({
      start: from,
      end: nextLine(this.text, this.contentEnd(pair.value)),
      text: "",
    });
  }

  private addPairs(map: YAMLMap<Node, Node | null>, added: readonly [string, YamlValue][]): void {
    const start = map.range?.[0] ?? 0;
    const last = map.items.at(-1);
    if (this.isFlow(map, start)) {
      this.addToFlow(
        start,
        last === undefined ? undefined : Math.max(this.contentEnd(last.value), this.colonEnd(last)),
        added.map(([name, value]) => this.flowPair(name, value)),
      );
      return;
    }
    const [first] = map.items;
    if (first === undefined || last === undefined) return;
    const column = columnOf(this.text, startOf(first.key));
    const at = lineEnd(this.text, Math.max(this.contentEnd(last.value), this.colonEnd(last)));
    const fragment = writeFragment(Object.fromEntries(added));
    this.edits.push({ start: at, end: at, text: `\n${" ".repeat(column)}${setIn(fragment, column)}` });
  }

  private visitSeq(list: YAMLSeq<Node>, desired: readonly YamlValue[], head: number | undefined): void {
    const start = list.range?.[0] ?? 0;
    const matches = matchItems(list, desired, this.document);
    if (list.items.length === 0) {
      const pieces = desired.map((item) => this.flowOf(item));
      this.addToFlow(start, undefined, pieces);
      return;
    }
    const kept = new Set(matches.map(([item]) => item));
    for (const item of list.items) {
      if (!kept.has(item)) this.removeItem(list, item, desired.length === 0);
    }
    let previous: Node | undefined;
    for (const [item, wanted] of matches) {
      if (item === undefined) this.addItem(list, start, previous, head, wanted);
      else if (canGoInto(item, wanted)) this.visit(item, wanted, undefined);
      else if (!this.isRight(item, wanted)) this.replaceItem(list, item, wanted);
      previous = item ?? previous;
    }
  }

  private removeItem(list: YAMLSeq, item: Node, isEmpty: boolean): void {
    const lines = linesOfItem(this.text, startOf(item), this.contentEnd(item));
    if (lines === undefined || isEmpty || this.isFlow(list, 0))
      throw new CantReconcile(startOf(item), `${labelOf(item)} has to go: remove it`);
    this.edits.push({ ...lines, text: "" });
  }

  private replaceItem(list: YAMLSeq, item: Node, wanted: YamlValue): void {
    const start = startOf(item);
    const isFlow = this.isFlow(list, list.range?.[0] ?? 0);
    const fragment = isFlow ? this.flowOf(wanted) : writeFragment([bare(wanted)]).replace(/^- /, "");
    this.edits.push({
      start,
      end: this.contentEnd(item),
      text: setIn(fragment, columnOf(this.text, start) - (isFlow ? 0 : 2)),
    });
  }

  private addItem(
    list: YAMLSeq<Node>,
    start: number,
    previous: Node | undefined,
    head: number | undefined,
    wanted: YamlValue,
  ): void {
    if (this.isFlow(list, start)) {
      const behind = previous ?? undefined;
      if (behind === undefined && list.items.length > 0) {
        this.edits.push({ start: start + 1, end: start + 1, text: `${this.flowOf(wanted)}, ` });
      } else this.addToFlow(start, behind && this.contentEnd(behind), [this.flowOf(wanted)]);
      return;
    }
    const column = columnOf(this.text, start);
    const fragment = setIn(writeFragment([wanted]), column);
    if (previous === undefined && head === undefined) {
      const at = lineStart(this.text, start);
      this.edits.push({ start: at, end: at, text: `${" ".repeat(column)}${fragment}\n` });
      return;
    }
    const at = lineEnd(this.text, previous === undefined ? (head ?? start) : this.contentEnd(previous));
    this.edits.push({ start: at, end: at, text: `\n${" ".repeat(column)}${fragment}` });
  }

  /** `behind`: where the last item ends; undefined: there is none. */
  private addToFlow(start: number, behind: number | undefined, pieces: readonly string[]): void {
    const at = behind ?? start + 1;
    const rest = this.text.slice(at);
    const comma = /^\s*,/.exec(rest)?.[0].length ?? 0;
    const isLast = behind !== undefined && comma > 0 && /^\s*[}\]]/.test(rest.slice(comma));
    const text =
      behind === undefined
        ? ` ${pieces.join(", ")} `
        : isLast
          ? ` ${pieces.join(", ")},`
          : `, ${pieces.join(", ")}`;
    this.edits.push({ start: isLast ? at + comma : at, end: isLast ? at + comma : at, text });
  }

  private flowPair(name: string, value: YamlValue): string {
    if (this.isJson) return `${JSON.stringify(name)}: ${JSON.stringify(plain(value))}`;
    return writeFlow({ [name]: value }).replace(/^\{ (.*) \}$/s, "$1");
  }

  private flowOf(value: YamlValue): string {
    return this.isJson ? JSON.stringify(plain(value)) : writeFlow(value);
  }

  private isFlow(collection: YAMLMap | YAMLSeq, start: number): boolean {
    return collection.flow === true || "{[".includes(this.text[collection.range?.[0] ?? start] ?? " ");
  }

  private isSame(node: Node | null, desired: YamlValue): boolean {
    return isDeepStrictEqual(node === null ? null : node.toJS(this.document), plain(desired));
  }

  /** Whether it is the wanted value once all is done. */
  private isRight(node: Node | null, desired: YamlValue): boolean {
    if (isAlias(node) && this.changed.has(node.source)) return !this.holdsChangedAlias(node, desired);
    return this.isSame(node, desired) && !this.holdsChangedAlias(node, desired);
  }

  /** Whether an alias in it would come to something else, since its anchor does. */
  private holdsChangedAlias(node: Node | null, desired: YamlValue): boolean {
    if (this.changed.size === 0) return false;
    if (isAlias(node))
      return (
        this.changed.has(node.source) && !isDeepStrictEqual(this.changed.get(node.source), plain(desired))
      );
    const value = bare(desired);
    if (isMap(node) && isRecord(value)) {
      return (node.items as MapPair[]).some(({ key, value: inner }) =>
        this.holdsChangedAlias(inner, value[nameOf(key)] ?? null),
      );
    }
    if (isSeq(node) && Array.isArray(value)) {
      return matchItems(node, value, this.document).some(
        ([item, wanted]) => item !== undefined && this.holdsChangedAlias(item, wanted),
      );
    }
    return false;
  }

  /** Offset behind a node's last character, without what follows it in its line. */
  private contentEnd(node: Node | null): number {
    if (node === null) return 0;
    if (isCollection(node) && !this.isFlow(node as YAMLMap, 0)) {
      const last = node.items.at(-1);
      if (isPair(last))
        return Math.max(this.contentEnd(last.value as Node | null), this.colonEnd(last as MapPair));
      if (last !== undefined) return this.contentEnd(last as Node);
    }
    let end = node.range?.[1] ?? 0;
    while (end > 0 && "\r\n".includes(this.text[end - 1] ?? " ")) end--;
    return end;
  }

  private colonEnd({ key }: MapPair): number {
    const end = key.range?.[1] ?? 0;
    return end + (/^\s*:/.exec(this.text.slice(end, end + 80))?.[0].length ?? 0);
  }
}

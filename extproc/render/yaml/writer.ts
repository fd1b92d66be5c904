import { Document, isCollection, isScalar, Pair, Scalar, visit, YAMLMap, YAMLSeq } from "yaml";
import { shareEqual } from "./share.js";
import { Commented, plain, type YamlMap, type YamlValue } from "./value.js";

/** Width of a line of comment, its indentation left out. */
const COMMENT_WIDTH = 110;
/** A map or list without comments that is no longer than this stands on one line. */
const FLOW_WIDTH = 110;

/** One document, with a comment at its top; equal values give equal texts. */
export function writeDocument(header: string, value: YamlValue): string {
  const body = textOf(documentOf(value));
  return header === "" ? body : `${hashed(header)}\n${body}`;
}

/** For one that is read whole: a blank line below the header, and what is equal is written once. */
export function writeSharing(header: string, value: YamlValue): string {
  const document = documentOf(value);
  shareEqual(document);
  return `${hashed(header)}\n\n${textOf(document)}`;
}

/** A map or a list in lines, without a line break at its end: a piece of a larger text. */
export function writeFragment(value: YamlMap | readonly YamlValue[]): string {
  const document = documentOf(value);
  if (isCollection(document.contents)) document.contents.flow = false;
  return textOf(document).trimEnd();
}

/** In one line, without comments. */
export function writeFlow(value: YamlValue): string {
  // In a list, since a text that stands alone may have lines, commas and brackets.
  const document = new Document([plain(value)], { version: "1.1", aliasDuplicateObjects: false });
  visit(document, { Collection: (_, node) => void Object.assign(node, { flow: true }) });
  return textOf(document)
    .trimEnd()
    .replace(/^\[\s*(.*?)\s*\]$/s, "$1");
}

function documentOf(value: YamlValue): Document {
  // By its rules texts like "yes" and "on" are quoted: Envoy's reader takes them for flags.
  const document = new Document(undefined, { version: "1.1" });
  document.contents = nodeOf(value);
  return document;
}

function textOf(document: Document): string {
  return document.toString({
    lineWidth: 0,
    indentSeq: false,
    flowCollectionPadding: true,
    defaultStringType: "PLAIN",
    defaultKeyType: "PLAIN",
  });
}

export function writeDocuments(documents: readonly string[]): string {
  return documents.join("---\n");
}

/** Lines of a comment, each with its mark. */
export function hashed(text: string): string {
  const lines = text.split("\n").flatMap((line) => wrapped(line));
  return lines.map((line) => (line === "" ? "#" : `# ${line}`)).join("\n");
}

function nodeOf(value: YamlValue): Scalar | YAMLMap | YAMLSeq {
  if (value instanceof Commented) {
    const node = nodeOf(value.value);
    node.commentBefore = commentText(value.comment);
    return node;
  }
  if (Array.isArray(value)) return listNode(value);
  if (typeof value === "object" && value !== null)
    return mapNode(value as Readonly<Record<string, YamlValue | undefined>>);
  const scalar = new Scalar(value);
  if (typeof value === "string" && value.includes("\n")) scalar.type = "BLOCK_LITERAL";
  // Kubernetes' reader does not take it plain in a flow.
  else if (typeof value === "string" && value.startsWith(":")) scalar.type = "QUOTE_DOUBLE";
  return scalar;
}

function listNode(items: readonly YamlValue[]): YAMLSeq {
  const list = new YAMLSeq();
  for (const item of items) list.items.push(nodeOf(item));
  list.flow = fitsOnOneLine(items, list);
  return list;
}

function mapNode(entries: Readonly<Record<string, YamlValue | undefined>>): YAMLMap {
  const map = new YAMLMap();
  for (const [name, value] of Object.entries(entries)) {
    if (value === undefined) continue;
    const key = new Scalar(name);
    const node = nodeOf(value);
    // Above the key, not between it and what it holds.
    key.commentBefore = node.commentBefore;
    node.commentBefore = undefined;
    map.items.push(new Pair(key, node));
  }
  map.flow = fitsOnOneLine(entries, map);
  return map;
}

function fitsOnOneLine(value: YamlValue, node: YAMLMap | YAMLSeq): boolean {
  return !needsLines(node) && JSON.stringify(plain(value)).length <= FLOW_WIDTH;
}

function needsLines(node: unknown): boolean {
  if (isScalar(node)) return node.commentBefore !== undefined || node.type === "BLOCK_LITERAL";
  if (!isCollection(node)) return false;
  if (node.commentBefore !== undefined) return true;
  return node.items.some((item) =>
    item instanceof Pair ? needsLines(item.key) || needsLines(item.value) : needsLines(item),
  );
}

function commentText(text: string): string {
  return text
    .split("\n")
    .flatMap(wrapped)
    .map((line) => ` ${line}`)
    .join("\n");
}

function wrapped(text: string): string[] {
  const indent = /^ */.exec(text)?.[0] ?? "";
  // What is laid out by blanks stays as it is.
  if (indent.length > 0 || text.length <= COMMENT_WIDTH) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > COMMENT_WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

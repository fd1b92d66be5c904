import type { Node, Scalar, Document as YamlDocument } from "yaml";
import {
  type Alias,
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from "yaml";
import type { Position, Problem } from "./errors.js";

/** A few names may share a list; more is a bomb. */
const MAX_ALIASES = 100;
/** Each value behind one costs a walk through all anchors. */
const MAX_ALIASES_WRITTEN = 1000;

/**
 * Collections in collections. The library composes them by recursion, and a stack that overflows while V8 compiles a
 * regular expression ends the process, which no catch can help.
 */
const MAX_DEPTH = 100;

/** Which place in a text a setting has. */
export interface SettingsDocument {
  /** Plain values, as JSON would give them; undefined for an empty text. */
  readonly value: unknown;
  /** Where the value stands (`isKey`: its key). What is missing: where the map it is missing in stands. */
  positionOf(path: readonly PropertyKey[], isKey: boolean): Position;
}

/** The document, or what is wrong with it as YAML; nothing is thrown. */
export function readDocument(text: string): SettingsDocument | { readonly problems: Problem[] } {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const excess = findExcess(text);
  if (excess !== undefined) return { problems: [syntaxProblem(excess)] };
  try {
    const options = {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: "error",
      uniqueKeys: false,
    } as const;
    const document = parseDocument(text, options);
    const problems: Problem[] = [...document.errors, ...document.warnings].map(({ code, message, pos }) =>
      syntaxProblem(
        code === "MULTIPLE_DOCS" ? "it must hold one document" : message.replaceAll(/\s+/g, " "),
        at(pos[0]),
      ),
    );
    for (const key of repeatedKeys(document)) {
      problems.push(syntaxProblem("Map keys must be unique", at(key.range?.[0] ?? 0)));
    }
    for (const alias of lostAliases(document)) {
      problems.push(syntaxProblem(`*${alias.source} names no anchor before it`, at(offsetOf(alias, 0))));
    }
    if (problems.length > 0) return { problems };
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { value, positionOf: (path, isKey) => at(findOffset(document, path, isKey)) };
  } catch (cause) {
    // The library throws for aliases that multiply.
    return { problems: [syntaxProblem(cause instanceof Error ? cause.message : String(cause))] };
  }
}

/** What there is too much of to compose the document. */
function findExcess(text: string): string | undefined {
  const parser = new Parser();
  let aliases = 0;
  let previous = "";
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return "it is nested too deeply";
    if (lexeme.startsWith("*") && previous !== CST.SCALAR) aliases++;
    if (aliases > MAX_ALIASES_WRITTEN) return "it has too many aliases";
    previous = lexeme;
  }
  return undefined;
}

function syntaxProblem(reason: string, position?: Position): Problem {
  return { path: [], text: `must be valid YAML: ${reason.slice(0, 200)}`, position };
}

/** What `uniqueKeys` would find, which compares each key with all before it. */
function repeatedKeys(document: YamlDocument.Parsed): Scalar[] {
  const repeated: Scalar[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) repeated.push(key);
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

/** Those for which `resolve` would find nothing, which walks through the whole document for each. */
function lostAliases(document: YamlDocument.Parsed): Alias[] {
  const anchors = new Set<string>();
  const lost: Alias[] = [];
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        if (!anchors.has(node.source)) lost.push(node);
      } else if (node.anchor !== undefined) anchors.add(node.anchor);
    },
  });
  return lost;
}

function findOffset(document: YamlDocument.Parsed, path: readonly PropertyKey[], isKey: boolean): number {
  let node: unknown = document.contents;
  let offset = offsetOf(node, 0);
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return offset;
      const keyOffset = offsetOf(pair.key, offset);
      node = pair.value;
      offset = isKey && index === path.length - 1 ? keyOffset : offsetOf(node, keyOffset);
    } else if (isSeq(node) && typeof step === "number") {
      node = node.items[step];
      offset = offsetOf(node, offset);
    } else {
      return offset;
    }
  }
  return offset;
}

/** `otherwise` for what takes no room, like the value of `key:`. */
function offsetOf(node: unknown, otherwise: number): number {
  const [start, end] = (node as Node | null | undefined)?.range ?? [0, 0];
  return end > start ? start : otherwise;
}

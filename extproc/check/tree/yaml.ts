import {
  type Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
} from "yaml";
import { readJson } from "./json.js";
import { type Content, Located, type Scalar } from "./located.js";
import { type Base, SourceText } from "./source-text.js";

/** Composed by recursion: a stack that overflows inside of V8's regular expressions ends the process. */
const MAX_DEPTH = 100;
const MAX_ALIASES = 20_000;
/** Entries that merge keys may copy. */
const MAX_MERGED = 100_000;
const MAX_PROBLEMS = 5;
const MAX_DOCUMENTS = 5000;

export interface TreeProblem {
  readonly at: Located;
  readonly text: string;
}

export interface Trees {
  /** One a document; empty ones are left out. */
  readonly roots: readonly Located[];
  readonly problems: readonly TreeProblem[];
}

/** All documents of a YAML text (JSON is one). Nothing is thrown. */
export function readYaml(name: string, text: string, base?: Base): Trees {
  const source = new SourceText(name, text, base);
  const problem = (offset: number, words: string): TreeProblem => ({
    at: new Located(source, offset, null),
    text: words.replaceAll(/\s+/g, " ").slice(0, 200),
  });
  const json = /^\s*[{[]/.test(text) ? readJson(source) : undefined;
  if (json !== undefined) return { roots: [json], problems: [] };
  try {
    const composer = new Composer({ prettyErrors: false, logLevel: "silent", uniqueKeys: false });
    const roots: Located[] = [];
    for (const document of composer.compose(boundedTokens(text), false, text.length)) {
      const fault = document.errors[0];
      if (fault)
        return {
          roots,
          problems: document.errors.slice(0, MAX_PROBLEMS).map((each) => problem(each.pos[0], each.message)),
        };
      if (document.contents !== null) roots.push(new Converter(source).convert(document));
      if (roots.length > MAX_DOCUMENTS) throw new RefusedError("it has too many documents");
    }
    return { roots, problems: [] };
  } catch (cause) {
    return {
      roots: [],
      problems: [
        problem(
          cause instanceof RefusedError ? cause.offset : 0,
          cause instanceof Error ? cause.message : String(cause),
        ),
      ],
    };
  }
}

class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(
    message: string,
    readonly offset = 0,
  ) {
    super(message);
  }
}

function* boundedTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  let aliases = 0;
  let previous = "";
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH) throw new RefusedError("it is nested too deeply", offset);
    if (lexeme.startsWith("*") && previous !== CST.SCALAR && ++aliases > MAX_ALIASES) {
      throw new RefusedError("it has too many aliases", offset);
    }
    previous = lexeme;
    offset += lexeme.length;
  }
  yield* parser.end();
}

/** Of one document. Each anchored value is made once and shared, so aliases that multiply cost nothing. */
class Converter {
  private readonly anchors = new Map<string, Located>();
  private merged = 0;

  constructor(private readonly source: SourceText) {}

  convert(document: Document.Parsed): Located {
    return this.node(document.contents, 0);
  }

  private node(node: Node | null | undefined, otherwise: number): Located {
    const [start = otherwise, end = otherwise] = node?.range ?? [];
    const offset = end > start ? start : otherwise;
    if (isAlias(node)) return this.anchored(node, offset);
    const located = new Located(this.source, offset, null);
    if (node && "anchor" in node && typeof node.anchor === "string") this.anchors.set(node.anchor, located);
    located.content = this.contentOf(node, offset);
    return located;
  }

  private contentOf(node: Node | null | undefined, offset: number): Content {
    if (isMap(node)) return this.pairs(node.items as Pair<Node, Node | null>[], offset);
    if (isSeq(node)) return node.items.map((item) => this.node(item as Node, offset));
    return isScalar(node) ? scalarOf(node.value) : null;
  }

  private pairs(items: readonly Pair<Node, Node | null>[], offset: number): Content {
    const fields = new Map<string, Located>();
    const merges: Located[] = [];
    for (const { key, value } of items) {
      const keyOffset = key?.range?.[0] ?? offset;
      const name = isScalar(key) ? String(key.value) : "";
      const located = this.node(value, keyOffset);
      if (name === "<<") {
        merges.push(located);
        this.source.mergeKeys.push(keyOffset);
      } else if (fields.has(name)) throw new RefusedError(`the key ${name} stands there twice`, keyOffset);
      else fields.set(name, located);
    }
    for (const merge of merges) this.merge(fields, merge);
    return fields;
  }

  /** Keys that are there win; of several merged maps the first. */
  private merge(fields: Map<string, Located>, { content, items }: Located): void {
    const maps = content instanceof Map ? [content] : items.map((item) => item.fields);
    for (const map of maps) {
      this.merged += map.size;
      if (this.merged > MAX_MERGED) throw new RefusedError("its merge keys multiply");
      for (const [name, value] of map) if (!fields.has(name)) fields.set(name, value);
    }
  }

  private anchored(alias: Alias, offset: number): Located {
    const found = this.anchors.get(alias.source);
    if (found === undefined) throw new RefusedError(`*${alias.source} names no anchor before it`, offset);
    return found;
  }
}

function scalarOf(value: unknown): Scalar {
  if (typeof value === "bigint") return String(value);
  return typeof value === "object" || value === undefined ? null : (value as Scalar);
}

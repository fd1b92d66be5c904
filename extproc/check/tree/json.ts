import { type Content, Located } from "./located.js";
import type { SourceText } from "./source-text.js";

const MAX_DEPTH = 100;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const WORD = /-?\d[\d.eE+-]*|true|false|null/y;
const BLANK = /[ \t\r\n]*/y;

/** A dump is some megabytes of JSON, which this reads far faster than YAML is read. Undefined: it is no JSON, or none of ours. */
export function readJson(source: SourceText): Located | undefined {
  try {
    return new JsonReader(source).read();
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

class JsonReader {
  private at = 0;
  private readonly text: string;

  constructor(private readonly source: SourceText) {
    this.text = source.text;
  }

  read(): Located {
    const value = this.value(0);
    this.blank();
    if (this.at < this.text.length) throw new SyntaxError("more than one value");
    return value;
  }

  private value(depth: number): Located {
    this.blank();
    if (depth > MAX_DEPTH) throw new SyntaxError("nested too deeply");
    const offset = this.at;
    const first = this.text[offset];
    const content = first === "{" ? this.map(depth) : first === "[" ? this.list(depth) : this.scalar();
    return new Located(this.source, offset, content);
  }

  private map(depth: number): Content {
    const fields = new Map<string, Located>();
    this.at++;
    for (let isFirst = true; !this.takes("}"); isFirst = false) {
      if (!isFirst) this.expect(",");
      this.blank();
      const key = JSON.parse(this.match(STRING)) as string;
      this.expect(":");
      // What stands there twice is told by whoever reads it as YAML.
      if (fields.has(key)) throw new SyntaxError("a key stands there twice");
      fields.set(key, this.value(depth + 1));
    }
    return fields;
  }

  private list(depth: number): Content {
    const items: Located[] = [];
    this.at++;
    for (let isFirst = true; !this.takes("]"); isFirst = false) {
      if (!isFirst) this.expect(",");
      items.push(this.value(depth + 1));
    }
    return items;
  }

  private scalar(): Content {
    const literal = this.match(this.text[this.at] === '"' ? STRING : WORD);
    return JSON.parse(literal) as Content;
  }

  private blank(): void {
    BLANK.lastIndex = this.at;
    this.at += BLANK.exec(this.text)?.[0].length ?? 0;
  }

  private takes(character: string): boolean {
    this.blank();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private expect(character: string): void {
    if (!this.takes(character)) throw new SyntaxError(`no ${character}`);
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw new SyntaxError("no value");
    this.at += found.length;
    return found;
  }
}

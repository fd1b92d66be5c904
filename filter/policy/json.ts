// A small JSON tree for configuration only: it runs when a policy arrives, never for a request.

export enum JsonKind {
  NULL,
  BOOL,
  NUMBER,
  TEXT,
  ARRAY,
  OBJECT,
}

@final
export class Json {
  truth: bool = false;
  number: f64 = 0;
  text: string = "";
  /** Keys of an object, one for each of {@link items}. */
  keys: string[] = [];
  items: Json[] = [];

  constructor(readonly kind: JsonKind) {}

  get(key: string): Json | null {
    const at = this.keys.indexOf(key);
    return at < 0 ? null : this.items[at];
  }
}

const MAX_DEPTH: i32 = 32;

/** Parses one JSON text. On a fault `error` names it with its character offset and the result is null. */
@final
export class JsonParser {
  error: string = "";
  private at: i32 = 0;

  constructor(private readonly source: string) {}

  parse(): Json | null {
    const value = this.value(0);
    this.blank();
    if (value && this.at < this.source.length) return this.fail("unexpected text after the end");
    return value;
  }

  private fail(reason: string): Json | null {
    if (this.error.length === 0) this.error = reason + " at character " + this.at.toString();
    return null;
  }

  private peek(): i32 {
    return this.at < this.source.length ? this.source.charCodeAt(this.at) : -1;
  }

  private blank(): void {
    while (this.at < this.source.length) {
      const c = this.source.charCodeAt(this.at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      this.at++;
    }
  }

  private take(c: i32): bool {
    this.blank();
    if (this.peek() !== c) return false;
    this.at++;
    return true;
  }

  private value(depth: i32): Json | null {
    this.blank();
    if (depth > MAX_DEPTH) return this.fail("nested too deeply");
    const c = this.peek();
    if (c === 0x7b) return this.object(depth);
    if (c === 0x5b) return this.array(depth);
    if (c === 0x22) return this.string();
    if (c === 0x2d || isDigit(c)) return this.numeric();
    return this.word();
  }

  private object(depth: i32): Json | null {
    const result = new Json(JsonKind.OBJECT);
    this.at++;
    if (this.take(0x7d)) return result;
    do {
      this.blank();
      if (this.peek() !== 0x22) return this.fail("expected a quoted key");
      const key = this.string();
      if (!key) return null;
      if (result.get(key.text)) return this.fail('duplicate key "' + key.text + '"');
      if (!this.take(0x3a)) return this.fail('expected ":"');
      const item = this.value(depth + 1);
      if (!item) return null;
      result.keys.push(key.text);
      result.items.push(item);
    } while (this.take(0x2c));
    return this.take(0x7d) ? result : this.fail('expected "," or "}"');
  }

  private array(depth: i32): Json | null {
    const result = new Json(JsonKind.ARRAY);
    this.at++;
    if (this.take(0x5d)) return result;
    do {
      const item = this.value(depth + 1);
      if (!item) return null;
      result.items.push(item);
    } while (this.take(0x2c));
    return this.take(0x5d) ? result : this.fail('expected "," or "]"');
  }

  private string(): Json | null {
    this.at++;
    let text = "";
    let start = this.at;
    while (this.at < this.source.length) {
      const c = this.source.charCodeAt(this.at);
      if (c === 0x22) {
        const result = new Json(JsonKind.TEXT);
        result.text = text + this.source.substring(start, this.at++);
        return result;
      }
      if (c < 0x20) return this.fail("control character in a string");
      if (c !== 0x5c) {
        this.at++;
        continue;
      }
      text += this.source.substring(start, this.at++);
      const escaped = this.escape();
      if (escaped < 0) return this.fail("bad escape");
      text += String.fromCharCode(escaped);
      start = this.at;
    }
    return this.fail("string without an end");
  }

  private escape(): i32 {
    const c = this.peek();
    this.at++;
    if (c === 0x22 || c === 0x5c || c === 0x2f) return c;
    if (c === 0x62) return 8;
    if (c === 0x66) return 12;
    if (c === 0x6e) return 10;
    if (c === 0x72) return 13;
    if (c === 0x74) return 9;
    if (c !== 0x75 || this.at + 4 > this.source.length) return -1;
    let code = 0;
    for (let i = 0; i < 4; i++) {
      const digit = hexDigit(this.source.charCodeAt(this.at++));
      if (digit < 0) return -1;
      code = code * 16 + digit;
    }
    return code;
  }

  private numeric(): Json | null {
    const start = this.at;
    if (this.peek() === 0x2d) this.at++;
    if (this.peek() === 0x30) this.at++;
    else if (!this.digits()) return this.fail("bad number");
    if (this.peek() === 0x2e) {
      this.at++;
      if (!this.digits()) return this.fail("bad number");
    }
    if (this.peek() === 0x65 || this.peek() === 0x45) {
      this.at++;
      if (this.peek() === 0x2b || this.peek() === 0x2d) this.at++;
      if (!this.digits()) return this.fail("bad number");
    }
    const result = new Json(JsonKind.NUMBER);
    result.text = this.source.substring(start, this.at);
    result.number = parseFloat(result.text);
    return result;
  }

  /** Past the digits here; false when there are none. */
  private digits(): bool {
    const start = this.at;
    while (isDigit(this.peek())) this.at++;
    return this.at > start;
  }

  private word(): Json | null {
    if (this.source.startsWith("null", this.at)) {
      this.at += 4;
      return new Json(JsonKind.NULL);
    }
    const truth = this.source.startsWith("true", this.at);
    if (!truth && !this.source.startsWith("false", this.at)) {
      return this.fail(this.peek() < 0 ? "unexpected end" : "unexpected character");
    }
    this.at += truth ? 4 : 5;
    const result = new Json(JsonKind.BOOL);
    result.truth = truth;
    return result;
  }
}

function hexDigit(c: i32): i32 {
  if (c >= 0x30 && c <= 0x39) return c - 0x30;
  const lower = c | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function isDigit(c: i32): bool {
  return c >= 0x30 && c <= 0x39;
}

/** JSON text of a tree; numbers keep their digits. */
export function stringify(json: Json): string {
  if (json.kind === JsonKind.NULL) return "null";
  if (json.kind === JsonKind.BOOL) return json.truth ? "true" : "false";
  if (json.kind === JsonKind.NUMBER) return json.text;
  if (json.kind === JsonKind.TEXT) return quote(json.text);
  const isObject = json.kind === JsonKind.OBJECT;
  let text = isObject ? "{" : "[";
  for (let i = 0; i < json.items.length; i++) {
    if (i > 0) text += ",";
    if (isObject) text += quote(json.keys[i]) + ":";
    text += stringify(json.items[i]);
  }
  return text + (isObject ? "}" : "]");
}

export function quote(text: string): string {
  let quoted = '"';
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22 || c === 0x5c) quoted += "\\" + text.charAt(i);
    else if (c < 0x20) quoted += "\\u00" + (c < 16 ? "0" : "") + c.toString(16);
    else quoted += text.charAt(i);
  }
  return quoted + '"';
}

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "../body/json-bytes.js";

/** What is to become of one byte of an answer. */
export enum Fate {
  Keep,
  Drop,
  /** The new value stands here; this byte goes, and so do the ones that follow, up to the value's end. */
  Replace,
}

/** Longer than any key that is looked for. */
const MAX_KEY_BYTES = 16;

/** OpenAI's Responses and Anthropic's Messages name the model one level deeper, in their streams. */
const WRAPPERS: readonly string[] = ["response", "message"];

enum Inside {
  /** Between tokens, or in a number or a word. */
  Structure,
  Key,
  Text,
  /** The text that is replaced. */
  Model,
}

/**
 * Finds the text of `model`, `response.model` and `message.model` in one JSON value that comes byte by byte. It knows
 * the depth and the last key, so any answer takes the same few bytes of memory. The same key further inside is another
 * thing (a tool's argument, say) and stays.
 */
export class ModelScanner {
  private inside = Inside.Structure;
  private isEscaped = false;
  private depth = 0;
  private isObject = false;
  private isInWrapper = false;
  private expectsKey = false;
  private key = "";

  /** Forgets what came: another value begins. */
  reset(): void {
    this.inside = Inside.Structure;
    this.isEscaped = false;
    this.depth = 0;
    this.isObject = false;
    this.isInWrapper = false;
    this.expectsKey = false;
    this.key = "";
  }

  next(byte: number): Fate {
    if (this.inside === Inside.Structure) return this.onStructure(byte);
    const isReplaced = this.inside === Inside.Model;
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.inside = Inside.Structure;
    if (this.inside === Inside.Key && this.key.length < MAX_KEY_BYTES) this.key += String.fromCharCode(byte);
    return isReplaced ? Fate.Drop : Fate.Keep;
  }

  private onStructure(byte: number): Fate {
    switch (byte) {
      case QUOTE:
        return this.onQuote();
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.open(byte === OPEN_BRACE);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.close();
        break;
      case COMMA:
        if (this.isTracked) this.expectsKey = true;
        break;
      case COLON:
        if (this.isTracked) this.expectsKey = false;
    }
    return Fate.Keep;
  }

  /** Whether the innermost object is one whose keys count. */
  private get isTracked(): boolean {
    return (this.depth === 1 && this.isObject) || (this.depth === 2 && this.isInWrapper);
  }

  private onQuote(): Fate {
    if (!this.isTracked) this.inside = Inside.Text;
    else if (this.expectsKey) {
      this.inside = Inside.Key;
      this.key = "";
    } else if (this.key === "model") {
      this.inside = Inside.Model;
      return Fate.Replace;
    } else this.inside = Inside.Text;
    return Fate.Keep;
  }

  private open(isObject: boolean): void {
    const isWrapper = this.depth === 1 && this.isObject && isObject && WRAPPERS.includes(this.key);
    this.depth++;
    if (this.depth === 1) this.isObject = isObject;
    if (this.depth === 2) this.isInWrapper = isWrapper;
    if (this.isTracked) this.expectsKey = true;
  }

  private close(): void {
    if (this.depth > 0) this.depth--;
    if (this.isTracked) {
      this.expectsKey = false;
      this.key = "";
    }
  }
}

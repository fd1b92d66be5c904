import { Json, JsonKind } from "./json";

export const HOUR_MS: u32 = 3600000;
const MAX_AMOUNT: f64 = 1000000000;

/** Reads the fields of one JSON object with defaults and bounds; every fault goes to `errors`, with the field's full name. */
@final
export class Fields {
  private readonly known: string[] = [];

  constructor(
    readonly path: string,
    readonly node: Json,
    readonly errors: string[],
  ) {
    if (node.kind !== JsonKind.OBJECT) errors.push((path.length ? path : "policy") + " must be an object");
  }

  name(key: string): string {
    return this.path.length ? this.path + "." + key : key;
  }

  fault(key: string, rule: string): void {
    this.errors.push(this.name(key) + " " + rule);
  }

  /** The field, or null when it is absent or null. */
  find(key: string): Json | null {
    this.known.push(key);
    const value = this.node.get(key);
    return value && value.kind === JsonKind.NULL ? null : value;
  }

  has(key: string): bool {
    const value = this.node.get(key);
    return value !== null && value.kind !== JsonKind.NULL;
  }

  integer(key: string, least: i32, most: i32, fallback: i32): i32 {
    const value = this.find(key);
    if (!value) return fallback;
    const rule = "must be a whole number from " + least.toString() + " to " + most.toString();
    if (value.kind !== JsonKind.NUMBER || value.number !== Math.floor(value.number)) {
      this.fault(key, rule + ", got " + show(value));
      return fallback;
    }
    if (value.number < <f64>least || value.number > <f64>most) {
      this.fault(key, rule + ", got " + value.text);
      return fallback;
    }
    return <i32>value.number;
  }

  /** Hundredths of a number that may have a fraction. */
  factor(key: string, least: i32, most: i32, fallback: i32): i32 {
    const value = this.find(key);
    if (!value) return fallback;
    const isGood = value.kind === JsonKind.NUMBER && value.number >= <f64>least && value.number <= <f64>most;
    if (isGood) return <i32>Math.round(value.number * 100);
    this.fault(
      key,
      "must be a number from " + least.toString() + " to " + most.toString() + ", got " + show(value),
    );
    return fallback;
  }

  /** An amount of money; 0 when it is absent. */
  amount(key: string): f64 {
    const value = this.find(key);
    if (!value) return 0;
    const isGood = value.kind === JsonKind.NUMBER && value.number >= 0 && value.number <= MAX_AMOUNT;
    if (isGood) return value.number;
    this.fault(key, "must be a number from 0 to 1000000000, got " + show(value));
    return 0;
  }

  /** Milliseconds of a duration such as "250ms", "5s", "2m" or "1h". */
  duration(key: string, leastMs: u32, mostMs: u32, fallbackMs: u32): u32 {
    const value = this.find(key);
    if (!value) return fallbackMs;
    const ms = value.kind === JsonKind.TEXT ? durationMs(value.text) : -1;
    if (ms < 0) {
      this.fault(key, 'must be a duration such as "250ms", "5s" or "2m", got ' + show(value));
      return fallbackMs;
    }
    if (ms < <f64>leastMs || ms > <f64>mostMs) {
      this.fault(
        key,
        "must be from " + leastMs.toString() + "ms to " + mostMs.toString() + "ms, got " + value.text,
      );
      return fallbackMs;
    }
    return <u32>ms;
  }

  flag(key: string, fallback: bool): bool {
    const value = this.find(key);
    if (!value) return fallback;
    if (value.kind !== JsonKind.BOOL) this.fault(key, "must be true or false, got " + show(value));
    return value.truth;
  }

  text(key: string, fallback: string): string {
    const value = this.find(key);
    if (!value) return fallback;
    if (value.kind !== JsonKind.TEXT || value.text.length === 0) {
      this.fault(key, "must be a text, got " + show(value));
      return fallback;
    }
    return value.text;
  }

  /** The place of the field's text in `choices`. */
  choice(key: string, choices: string[], fallback: i32): i32 {
    const value = this.find(key);
    if (!value) return fallback;
    const at = value.kind === JsonKind.TEXT ? choices.indexOf(value.text) : -1;
    if (at >= 0) return at;
    this.fault(key, "must be one of " + choices.join(", ") + ", got " + show(value));
    return fallback;
  }

  /** The object in a field; an empty one when it is absent. */
  object(key: string): Fields {
    const value = this.find(key);
    return new Fields(this.name(key), value ? value : new Json(JsonKind.OBJECT), this.errors);
  }

  list(key: string): Json[] {
    const value = this.find(key);
    if (!value) return [];
    if (value.kind === JsonKind.ARRAY) return value.items;
    this.fault(key, "must be a list, got " + show(value));
    return [];
  }

  /** Faults every field that nobody asked for. */
  close(): void {
    for (let i = 0; i < this.node.keys.length; i++) {
      const key = this.node.keys[i];
      if (this.known.indexOf(key) < 0) this.fault(key, "is unknown; known here: " + this.known.join(", "));
    }
  }
}

export function show(value: Json): string {
  if (value.kind === JsonKind.NUMBER) return value.text;
  if (value.kind === JsonKind.TEXT) return '"' + value.text + '"';
  if (value.kind === JsonKind.BOOL) return value.truth ? "true" : "false";
  if (value.kind === JsonKind.ARRAY) return "a list";
  return value.kind === JsonKind.OBJECT ? "an object" : "null";
}

function durationMs(text: string): f64 {
  let digits = 0;
  while (digits < text.length && isDigitOrPoint(text.charCodeAt(digits))) digits++;
  if (digits === 0 || text.indexOf(".") !== text.lastIndexOf(".")) return -1;
  const number = parseFloat(text.substring(0, digits));
  const unit = text.substring(digits);
  if (isNaN(number)) return -1;
  if (unit === "ms") return Math.round(number);
  if (unit === "s") return Math.round(number * 1000);
  if (unit === "m") return Math.round(number * 60000);
  return unit === "h" ? Math.round(number * 3600000) : -1;
}

function isDigitOrPoint(c: i32): bool {
  return (c >= 0x30 && c <= 0x39) || c === 0x2e;
}

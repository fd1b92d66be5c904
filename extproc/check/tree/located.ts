import type { SourceText } from "./source-text.js";

export type Scalar = string | number | boolean | null;
export type Content = Scalar | readonly Located[] | ReadonlyMap<string, Located>;

/** 1-based, as editors count. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const NOTHING: ReadonlyMap<string, Located> = new Map();
const camelNames = new Map<string, string>();

/** A value of somebody's file that knows where it stands. Aliases share one, so it may even hold itself: walk with a limit. */
export class Located {
  constructor(
    readonly source: SourceText,
    readonly offset: number,
    public content: Content,
  ) {}

  get place(): Place {
    return this.source.placeOf(this.offset);
  }

  /** A field by its proto name: Envoy takes `per_try_timeout` and `perTryTimeout` alike. */
  get(...names: readonly string[]): Located | undefined {
    let found: Located | undefined = this;
    for (const name of names) {
      const { fields }: Located = found;
      found = fields.get(name) ?? fields.get(camelName(name));
      if (found === undefined || found.content === null) return undefined;
    }
    return found;
  }

  /** A key as it is written: names of people's own, and JSON that is no proto. */
  at(...keys: readonly string[]): Located | undefined {
    let found: Located | undefined = this;
    for (const key of keys) found = found?.fields.get(key);
    return found?.content === null ? undefined : found;
  }

  get fields(): ReadonlyMap<string, Located> {
    return this.content instanceof Map ? this.content : NOTHING;
  }

  get isMap(): boolean {
    return this.content instanceof Map;
  }

  /** Of a list; nothing for anything else. */
  get items(): readonly Located[] {
    return Array.isArray(this.content) ? this.content : [];
  }

  list(...names: readonly string[]): readonly Located[] {
    return this.get(...names)?.items ?? [];
  }

  /** Numbers and flags as they would be written. */
  get text(): string | undefined {
    const { content } = this;
    return content === null || typeof content === "object" ? undefined : String(content);
  }

  textOf(...names: readonly string[]): string | undefined {
    return this.get(...names)?.text;
  }

  /** UInt32Value and the like may come as text. */
  numberOf(...names: readonly string[]): number | undefined {
    const text = this.textOf(...names);
    return text === undefined || text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
  }

  isTrue(...names: readonly string[]): boolean {
    return this.textOf(...names) === "true";
  }

  /** `15s`, `0.25s`, and Istio's `1m30s`. */
  millisecondsOf(...names: readonly string[]): number | undefined {
    const text = this.textOf(...names);
    return text === undefined ? undefined : milliseconds(text);
  }

  /** The last part of `@type`: `Wasm` of `type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm`. */
  get type(): string {
    return this.at("@type")?.text?.split(/[./]/).at(-1) ?? "";
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function milliseconds(text: string): number | undefined {
  if (!/^(\d{1,12}(\.\d{1,9})?(ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit = "s"] of text.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    sum += Number(number) * (UNITS[unit] ?? 0);
  }
  return sum;
}

function camelName(name: string): string {
  let camel = camelNames.get(name);
  if (camel === undefined) {
    camel = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camelNames.set(name, camel);
  }
  return camel;
}

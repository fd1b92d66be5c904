export type Header = readonly [name: string, value: string];

/**
 * Headers in order, duplicates kept, names in lower case. Strings hold one byte per character (latin1), so that
 * bytes which are not UTF-8 can be told.
 */
export class HeaderMap {
  #entries: Header[];

  constructor(entries: Iterable<Header> | Readonly<Record<string, string>> = []) {
    const pairs = Symbol.iterator in entries ? (entries as Iterable<Header>) : Object.entries(entries);
    this.#entries = [...pairs].map(([name, value]) => [name.toLowerCase(), value]);
  }

  get entries(): readonly Header[] {
    return this.#entries;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The first value, as Envoy gives it to wasm. */
  get(name: string): string | undefined {
    const lower = name.toLowerCase();
    return this.#entries.find(([entry]) => entry === lower)?.[1];
  }

  set(name: string, value: string): void {
    this.remove(name);
    this.add(name, value);
  }

  add(name: string, value: string): void {
    this.#entries.push([name.toLowerCase(), value]);
  }

  remove(name: string): void {
    const lower = name.toLowerCase();
    this.#entries = this.#entries.filter(([entry]) => entry !== lower);
  }

  clone(): HeaderMap {
    return new HeaderMap(this.#entries);
  }
}

/** Request headers by lower-case name; the values of a repeated header are joined by a comma (RFC 9110, 5.3). */
export type RequestHeaders = ReadonlyMap<string, string>;

/** Puts headers together as they come. */
export class HeaderCollector {
  readonly values = new Map<string, string>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const earlier = this.values.get(key);
    this.values.set(key, earlier === undefined ? value : `${earlier},${value}`);
  }
}

/** The path without its query, which may hold secrets and never decides anything here. */
export function pathOf(headers: RequestHeaders): string {
  return (headers.get(":path") ?? "").split("?", 1)[0] ?? "";
}

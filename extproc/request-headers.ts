/** Request headers by lower-case name; the values of a repeated header are joined by {@link REPEATED}. */
export type RequestHeaders = ReadonlyMap<string, string>;

/** A comma (RFC 9110, 5.3), and a line feed, which no value has: a comma alone may stand in one. */
export const REPEATED = ",\n";

/** Puts headers together as they come. */
export class HeaderCollector {
  readonly values = new Map<string, string>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const earlier = this.values.get(key);
    this.values.set(key, earlier === undefined ? value : earlier + REPEATED + value);
  }
}

/** The path without its query, which may hold secrets and never decides anything here. */
export function pathOf(headers: RequestHeaders): string {
  return (headers.get(":path") ?? "").split("?", 1)[0] ?? "";
}

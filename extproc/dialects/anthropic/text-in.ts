/** What a backend put where a text belongs. An object is none, and to ask it for one may throw: `{"toString":1}` is good JSON. */
export function textIn(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

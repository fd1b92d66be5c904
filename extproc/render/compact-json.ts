const COLUMNS = 110;
const STEP = 2;

/** JSON as people write it: what fits into a line stands in one, but for the outermost. */
export function compactJson(value: unknown): string {
  return print(value, 0, 0, true);
}

/** `used` columns of the line are taken already. */
function print(value: unknown, indent: number, used: number, isOutermost = false): string {
  const line = inOneLine(value);
  if (!isOutermost && indent + used + line.length <= COLUMNS) return line;
  if (typeof value !== "object" || value === null) return line;
  const below = indent + STEP;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const entries = Array.isArray(value)
    ? value.map((item) => print(item, below, 0))
    : Object.entries(value).map(([key, item]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + print(item, below, name.length);
      });
  if (entries.length === 0) return `${open}${close}`;
  const pad = " ".repeat(below);
  return `${open}\n${entries.map((entry) => pad + entry).join(",\n")}\n${" ".repeat(indent)}${close}`;
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inOneLine(item)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

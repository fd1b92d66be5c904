/** One line of a page in Prometheus' text format or OpenMetrics', without its name. */
export interface Sample {
  /** As they stand between the braces; empty when there are none. */
  readonly labels: string;
  /** NaN for what is no finite decimal number, like NaN itself or +Inf. */
  readonly value: number;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;
/** What may follow a value: a time, and OpenMetrics' exemplar. */
const BEHIND_VALUE = /^(?:[ \t]+-?[\d.eE+-]+)?[ \t]*(?:#.*)?$/;

/** What stands behind a metric's name; undefined when that is no sample. Linear in the text's length. */
export function readSample(rest: string): Sample | undefined {
  let at = pastBlanks(rest, 0);
  let labels = "";
  if (rest[at] === "{") {
    const end = endOfLabels(rest, at + 1);
    if (end === -1) return undefined;
    labels = rest.slice(at + 1, end);
    at = pastBlanks(rest, end + 1);
  }
  const text = rest.slice(at).trimEnd();
  const end = text.search(/[ \t]/);
  const value = end === -1 ? text : text.slice(0, end);
  if (value === "" || !BEHIND_VALUE.test(text.slice(value.length))) return undefined;
  return { labels, value: DECIMAL.test(value) ? Number(value) : Number.NaN };
}

const LABEL = /[ \t,]*([A-Za-z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"/y;

/** The value of the label of that name (undefined: there is none), and the other labels in one order. */
export function withoutLabel(labels: string, name: string): [value: string | undefined, others: string] {
  let value: string | undefined;
  const others: string[] = [];
  LABEL.lastIndex = 0;
  for (let match = LABEL.exec(labels); match !== null; match = LABEL.exec(labels)) {
    if (match[1] === name) value = match[2];
    else others.push(`${match[1]}="${match[2]}"`);
  }
  return [value, others.sort().join()];
}

function pastBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

/** Where the closing brace stands; a label's value may hold any character, quotes and backslashes escaped. */
function endOfLabels(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (isQuoted && char === "\\") at++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === "}" && !isQuoted) return at;
  }
  return -1;
}

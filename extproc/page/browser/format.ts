const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "8 s", "2 min 10 s", "3 h 5 min", "2 d 4 h". */
export function duration(ms: number): string {
  const left = Math.max(0, ms);
  if (left < MINUTE) return `${Math.floor(left / SECOND)} s`;
  if (left < HOUR) return pair(left, MINUTE, "min", SECOND, "s");
  if (left < DAY) return pair(left, HOUR, "h", MINUTE, "min");
  return pair(left, DAY, "d", HOUR, "h");
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  const head = `${Math.floor(ms / large)} ${largeName}`;
  return rest === 0 ? head : `${head} ${rest} ${smallName}`;
}

/** What is still to come: a wait of 0.2 s is not over yet. */
export function remaining(ms: number): string {
  return ms <= 0 ? "now" : duration(Math.ceil(ms / SECOND) * SECOND);
}

/** "340 ms", "1.2 s", "12 s". */
export function latency(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  return `${ms < 10 * SECOND ? (ms / SECOND).toFixed(1) : Math.round(ms / SECOND)} s`;
}

/** "1,234" */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** "0", "12.5", without a needless ".0" */
export function decimal(value: number): string {
  return Number.isInteger(value) ? count(value) : value.toFixed(1);
}

/** A share of one as "45 %". */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** "1 call", "2 calls" */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${decimal(value)} ${value === 1 ? one : many}`;
}

/** The browser's own time of day, to the second. */
export function clockTime(at: number | string): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** With the day where it is not today. */
export function moment(at: string, now = new Date()): string {
  const then = new Date(at);
  if (then.toDateString() === now.toDateString()) return clockTime(at);
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${clockTime(at)}`;
}

/** "a", "a and b", "a, b and c", "a, b, c and 4 more" */
export function listed(names: readonly string[], most = 4): string {
  const shown = names.length > most ? names.slice(0, most - 1) : names;
  const rest = names.length - shown.length;
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

import { readFileSync } from "node:fs";

/** One request as a backend saw it. Times are monotonic. */
export interface Arrived {
  /** The caller's name for it; "" for a probe. */
  readonly user: string;
  readonly isProbe: boolean;
  readonly isStreamed: boolean;
  /** The address it came from, which tells the gateway. */
  readonly from: string;
  /** When its gateway sent it; `atMs` for one that does not tell. */
  readonly sentMs: number;
  /** When the backend read it. */
  readonly atMs: number;
  /** Infinite for one that its process did not outlive. */
  readonly endMs: number;
  readonly isWhole: boolean;
}

type Line = Partial<Arrived> & { readonly id: string };

export function readArrivals(file: string): Arrived[] {
  const arrivals = new Map<string, Arrived>();
  // A process that is killed may leave half a line.
  for (const text of readFileSync(file, "utf8").split("\n")) {
    const line = parse(text);
    if (line === undefined) continue;
    const blank = {
      user: "",
      isProbe: false,
      isStreamed: false,
      from: "",
      sentMs: 0,
      atMs: 0,
      endMs: Number.POSITIVE_INFINITY,
      isWhole: false,
    };
    arrivals.set(line.id, { ...(arrivals.get(line.id) ?? blank), ...line });
  }
  return [...arrivals.values()];
}

function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

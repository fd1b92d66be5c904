/** How many of each thing are measured, fewest first. */
export interface Scales {
  readonly liveStreams: readonly number[];
  readonly buckets: readonly number[];
  readonly backends: readonly number[];
  readonly workers: readonly number[];
}

/** One thing of which there may be many. */
export interface Scale {
  readonly key: keyof Scales;
  readonly unit: string;
  readonly name: string;
  /** Its count in the variant that has no name of its own: what full.yaml has. */
  readonly base?: number;
  /** Whether Envoy without us was measured with as many. */
  readonly isBareToo: boolean;
}

export const allScales: readonly Scale[] = [
  { key: "liveStreams", unit: "streams", name: "live streams", base: 0, isBareToo: true },
  { key: "buckets", unit: "buckets", name: "window buckets", isBareToo: false },
  { key: "backends", unit: "backends", name: "backends in the policy", isBareToo: false },
  { key: "workers", unit: "workers", name: "workers", base: 1, isBareToo: true },
];

/** So many of a thing, and the variants whose difference is what the breaker adds with them. */
export interface Step {
  readonly count: number;
  readonly full: string;
  readonly bare: string;
}

/** The first is what the others are compared with. */
export function stepsOf({ key, unit, base, isBareToo }: Scale, scales: Scales): Step[] {
  const counts = scales[key].length === 0 || base === undefined ? scales[key] : [base, ...scales[key]];
  return counts.map((count) => {
    const suffix = count === base ? "" : `, ${count} ${unit}`;
    return { count, full: `full${suffix}`, bare: isBareToo ? `bare${suffix}` : "bare" };
  });
}

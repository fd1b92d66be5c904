import { differences, type Figure, figure, ratioOfMedians } from "../figures.js";
import { atMost, row } from "../report/rows.js";
import type { Measured, Row } from "../report/section.js";

/** Microseconds of Envoy's CPU a request, a figure a block, by cell. Only `bare` and `minimal` are always there. */
export type Blocks = ReadonlyMap<string, readonly number[]>;

const languages = {
  rustSdk: "in Rust, with the SDK",
  rustBare: "in Rust, without the SDK",
  rustPair: "in Rust, with the SDK, in two positions and VMs as ours",
  assemblyScript: "in AssemblyScript",
} as const;

const names = {
  admissionControl: "Envoy's admission_control",
  luaReads: "Lua that reads two headers",
  luaBreaker: "Lua that keeps a breaker's window, each worker its own",
  rustSdk: `the record's work ${languages.rustSdk}`,
  rustBare: `the record's work ${languages.rustBare}`,
  rustPair: `the record's work ${languages.rustPair}`,
  assemblyScript: `the record's work ${languages.assemblyScript}`,
  minimal: "minimal.yaml whole: gate and meter",
} as const;

const ratioToRust = 1.2;
const unit = "µs added";

const intro = `CPU that a filter adds to a tiny request inside Envoy: the same listener, route and cluster with one filter each, one worker,
in turns. _The record's work_ is what a breaker that is one for all workers can't do without: read the backend's record of 1.8 kB from
shared data at the request, decide, file the outcome at the end and write the record back by compare-and-swap. It is the same in Rust
(\`bench/peers/rust-filter\`, with the proxy-wasm SDK as its examples are, and by hand without it) and in AssemblyScript
(\`bench/peers/as-filter\`, of our own host layer and breaker), so that these are like for like. admission_control and Lua keep no state
that workers share. minimal.yaml is two filters in two VMs, for each attempt one, and does more: it reads answers, times them, counts,
probes and recovers.`;

export function filtersResult(measured: Blocks, whyNoRust?: string): Measured {
  const bare = blocksOf(measured, "bare");
  const addedUs = new Map<string, Figure>();
  for (const key of Object.keys(names)) {
    const blocks = measured.get(key);
    if (blocks) addedUs.set(key, figure(differences(blocks, bare)));
  }
  const beside = { what: "Envoy without it", figure: figure(bare) };
  const added = Array.from(addedUs, ([key, each]) =>
    row(names[key as keyof typeof names], unit, each, { beside }),
  );
  const ratios = ratioRows(measured);
  const points = added.map(({ what, figure: { median, spread } }) => ({ x: what, y: median, spread }));
  const plot = {
    name: "filters",
    title: "CPU that a filter adds to a request",
    kind: "bars" as const,
    x: "",
    y: "µs",
  };
  return {
    raw: {
      bareUs: beside.figure,
      addedUs: Object.fromEntries(addedUs),
      ratios: Object.fromEntries(ratios.map(({ what, figure: ratio }) => [what, ratio])),
      ...(whyNoRust && { whyNoRust }),
    },
    section: {
      title: "What other filters cost",
      intro: whyNoRust ? `${intro} Rust was not measured: ${whyNoRust}.` : intro,
      rows: [...added, ...ratios],
      tables: [],
      plots: [{ ...plot, series: [{ name: "added", points }] }],
      behind: [
        ...behind(addedUs, ratios),
        ...(whyNoRust ? [`At most ${ratioToRust} × Rust was not measured: ${whyNoRust}.`] : []),
      ],
    },
  };
}

/**
 * The added CPU of ours by that in Rust. The target is of the same work in one position; of minimal.yaml whole, which does more, is told
 * what it is beside Rust in one position and in the two that ours has.
 */
function ratioRows(measured: Blocks): Row[] {
  const bare = blocksOf(measured, "bare");
  const against = (ours: "assemblyScript" | "minimal", rust: keyof typeof languages): Row[] => {
    const theirs = measured.get(rust);
    if (!theirs) return [];
    const ratio = ratioOfMedians(differences(blocksOf(measured, ours), bare), differences(theirs, bare));
    return ours === "assemblyScript"
      ? [
          row(`${names[ours]}, against ${languages[rust]}`, "×", ratio, {
            target: atMost(ratio, ratioToRust),
          }),
        ]
      : [row(`minimal.yaml whole, against ${names[rust]}`, "×", ratio)];
  };
  return [
    ...against("assemblyScript", "rustSdk"),
    ...against("assemblyScript", "rustBare"),
    ...against("minimal", "rustSdk"),
    ...against("minimal", "rustPair"),
  ];
}

function behind(addedUs: ReadonlyMap<string, Figure>, ratios: readonly Row[]): string[] {
  const over = ratios.filter(({ figure: { median } }) => median > ratioToRust);
  const sentences = over.map(({ what, figure: { median } }) => `${what}: × ${median}.`);
  const ours = addedUs.get("minimal")?.median ?? 0;
  for (const key of ["admissionControl", "luaReads", "luaBreaker"] as const) {
    const theirs = addedUs.get(key)?.median ?? ours;
    if (theirs < ours) sentences.push(`minimal.yaml adds ${ours} µs to a request, ${names[key]} ${theirs}.`);
  }
  return sentences;
}

function blocksOf(measured: Blocks, name: string): readonly number[] {
  const blocks = measured.get(name);
  if (!blocks) throw new RangeError(`${name} was not measured`);
  return blocks;
}

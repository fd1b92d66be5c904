// What callers see of killed and stopped processes, and of VMs that trap: test/kills, told as a benchmark.
import { type KillResult, playKills } from "../../test/kills/kills.js";
import { cutColumns, cutRows, faultColumns, faultRows } from "../../test/kills/report.js";
import { figure } from "../figures.js";
import { missed, row, single } from "../report/rows.js";
import type { Measured, Row } from "../report/section.js";

export interface KillsBenchSettings {
  /** How long faults go on. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

const seed = 1;
const intro =
  "Two gateways of two workers each, with their services, share three backends and hear each other by a Redis, under 40 requests " +
  "a second. By a seed, one or two at a time, processes are killed or stopped and VMs of the first gateway made to trap; after each the " +
  "system has to be well again. Every caller without a whole answer must have been on a stream of what was struck.";

export async function measureKills({ seconds, say }: KillsBenchSettings): Promise<Measured> {
  const result = await playKills({ seed, seconds, say });
  const rows = rowsOf(result);
  const tables = [
    { caption: "What was struck", columns: faultColumns, rows: faultRows(result) },
    { caption: "Who was cut", columns: cutColumns, rows: cutRows(result) },
  ];
  const broken = result.checks
    .filter(({ passed }) => !passed)
    .map(({ check, detail }) => `Not kept: ${check} (${detail.slice(0, 200)}).`);
  const { played, cut, ...raw } = result;
  return {
    raw: { ...raw, rounds: played.rounds, cut: Object.fromEntries(cut) },
    section: {
      title: "Killed and stopped under load",
      intro,
      rows,
      tables,
      plots: [],
      behind: [...missed(rows), ...broken],
    },
  };
}

function rowsOf({ figures, checks, played }: KillResult): Row[] {
  const failed = checks.filter(({ passed }) => !passed).length;
  const none = { text: "none", met: failed === 0 };
  return [
    row("Callers", "", single(figures.calls ?? 0)),
    row("Callers cut with what was struck", "", single(figures["cut by a kill"] ?? 0)),
    row("Laws broken", `of ${checks.length}`, single(failed), { target: none }),
    ...(played.wellMs.length > 0 ? [row("Until all is well again", "ms", figure(played.wellMs, 0))] : []),
  ];
}

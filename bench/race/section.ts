import { single } from "../report/rows.js";
import type { Measured, Plot, Row, Table } from "../report/section.js";
import type { Heat } from "./race.js";
import type { Racer } from "./racer.js";
import { amountOf, boundOf, type Judged, judged, ourName, peersOf, winnerOver } from "./targets.js";
import { timeLines } from "./time-line.js";

export function sectionOf(
  heats: readonly Heat[],
  racers: readonly Racer[],
  absent: readonly string[],
): Measured["section"] {
  return {
    title: "The outage race",
    intro: introOf(racers, absent),
    rows: heats.flatMap(rowsOf),
    tables: heats.map(tableOf),
    plots: [...judged.map((each) => barsOf(each, heats)), ...timeLines(heats)],
    behind: [...heats.flatMap(behindIn), ...absent.map((reason) => `Not raced against ${reason}.`)],
  };
}

function introOf(racers: readonly Racer[], absent: readonly string[]): string {
  return [
    "The same callers at the same moments through each racer, and the same faults: each has engines of its own, simulated, and all " +
      "run at the same time, so that noise hits all (but in the retry storm, where one runs after another). A caller counts as " +
      "served when all tokens of its answer came, with a proper end and no error inside; everything else is a bare failure. " +
      "Times to the first token are those of streams that were served. docs/decisions/0038 tells how each score is defined.",
    ...racers.map(({ name, what }) => `- **${name}**: ${what}.`),
    ...absent.map((reason) => `- Absent: ${reason}`),
  ].join("\n");
}

/** Ours beside the best of the others, where a target was set. */
function rowsOf({ scenario, scores }: Heat): Row[] {
  const us = scores.find(({ racer }) => racer === ourName);
  if (!us) return [];
  const watched = scenario.seconds - scenario.fault[1];
  return judged.flatMap(({ key, what, unit }): Row[] => {
    const bound = boundOf(key, scenario, scores);
    if (!bound) return [];
    const [best] = peersOf(scores).toSorted((a, b) => amountOf(a, key) - amountOf(b, key));
    return [
      {
        ...{ what: `${scenario.title}: ${what}`, unit: us[key] === undefined ? `${unit} or more` : unit },
        figure: single(us[key] ?? watched),
        ...(best && best[key] !== undefined && { beside: { what: best.racer, figure: single(best[key]) } }),
        target: { text: bound.text, met: amountOf(us, key) <= bound.most },
      },
    ];
  });
}

function tableOf({ scenario, scores }: Heat): Table {
  return {
    caption: `${scenario.title}. ${scenario.what} ${scores[0]?.callers ?? 0} callers.`,
    columns: [
      ...["racer", "served whole", "bare failures", "first token, p50 ms", "p99 ms", "hits on the sick"],
      ...[
        "of them wasted",
        "peak while recovering",
        "s to open",
        "s to full service",
        "fallback, % of callers",
      ],
    ],
    rows: scores.map((score) => [
      ...[score.racer, String(score.served), String(score.bareFailures)],
      ...[
        shown(score.ttftP50Ms),
        shown(score.ttftP99Ms),
        String(score.sickHits),
        String(score.wastedHits),
        String(score.peakRecovering),
      ],
      ...[
        shown(score.secondsToOpen, "never"),
        shown(score.secondsToFull, "not in time"),
        String(score.fallbackPercent),
      ],
    ]),
  };
}

const shown = (value: number | undefined, otherwise = "–"): string =>
  value === undefined ? otherwise : String(value);

function barsOf({ key, what, unit }: Judged, heats: readonly Heat[]): Plot {
  const racers = [...new Set(heats.flatMap(({ scores }) => scores.map(({ racer }) => racer)))];
  return {
    name: `race-${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    title: `${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    kind: "bars",
    x: "scenario",
    y: unit,
    series: racers.map((racer) => ({
      name: racer,
      points: heats.flatMap(({ scenario, scores }) => {
        const value = scores.find((score) => score.racer === racer)?.[key];
        return value === undefined ? [] : [{ x: scenario.name, y: value }];
      }),
    })),
  };
}

function behindIn({ scenario, scores }: Heat): string[] {
  const us = scores.find(({ racer }) => racer === ourName);
  if (!us) return [];
  return judged.flatMap((each) => {
    const ourValue = us[each.key] === undefined ? "never" : `${us[each.key]} ${each.unit}`;
    const what = `${scenario.title}, ${each.what}: ${ourValue}`;
    const winner = winnerOver(us, each, scores);
    if (winner) return [`${what}; ${winner.racer}: ${winner[each.key]}.`];
    // A target may be missed though nobody did better.
    const bound = boundOf(each.key, scenario, scores);
    return bound && amountOf(us, each.key) > bound.most ? [`${what}, not ${bound.text}.`] : [];
  });
}

import type { Figure } from "../figures.js";
import type { Plot, Row, Section, Table } from "./section.js";

/** Sections may be of several runs: `npm run bench:report -- --only`. */
export interface ReportedSection extends Section {
  /** ISO date without time. */
  readonly date: string;
  /** Short hash of what was measured; "-dirty" behind it when files had changed. */
  readonly commit: string;
}

/** What `docs/benchmarks/results.json` holds; all of the page is made from it. */
export interface Results {
  /** Of the last run of all. */
  readonly minutes: number;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly sections: readonly ReportedSection[];
  /** Benchmarks that could not be run, with the reason. */
  readonly unmeasured: readonly { readonly name: string; readonly why: string }[];
}

/** @param folder where the pictures are, as seen from the page */
export function pageOf(results: Results, folder: string): string {
  const parts = [
    head(results),
    behindOf(results),
    ...results.sections.map((section) => sectionOf(section, folder)),
  ];
  return `${parts.join("\n\n")}\n`;
}

function head({ minutes, machine, sections }: Results): string {
  const told = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
  const contents = sections.map(({ title }) => `[${title}](#${anchorOf(title)})`);
  return [
    "# Benchmarks",
    "",
    "`npm run bench:report` measures all of this, one benchmark after the other, and writes this page; nobody edits it. Each figure",
    "stands beside what it is compared with, out of one interleaved run: the median over the blocks, and in parentheses the least and the",
    "greatest. Times of another machine, or of another run, can't be compared with these; ratios can.",
    "",
    `All of it took ${minutes} minutes on: ${told.join(" · ")}.`,
    "",
    `[Where we are behind](#where-we-are-behind) · ${contents.join(" · ")}`,
  ].join("\n");
}

function behindOf({ sections, unmeasured }: Results): string {
  const lines = sections.flatMap(({ title, behind }) => behind.map((text) => `- ${title}: ${text}`));
  const missing = unmeasured.map(({ name, why }) => `- ${name} could not be measured: ${why}`);
  const all = [...lines, ...missing];
  return ["## Where we are behind", "", ...(all.length > 0 ? all : ["Nowhere, in this run."])].join("\n");
}

function sectionOf(section: ReportedSection, folder: string): string {
  const parts = [`## ${section.title}`, section.intro.trim()];
  if (section.rows.length > 0) parts.push(rowsOf(section.rows));
  for (const table of section.tables) parts.push(`${table.caption}\n\n${tableOf(table)}`);
  for (const plot of section.plots) parts.push(pictureOf(plot, folder));
  const { name, seconds, date, commit } = section;
  parts.push(`\`npm run bench -- --only ${name} --section\`, ${date} at ${commit}, ${seconds} s.`);
  return parts.join("\n\n");
}

function rowsOf(rows: readonly Row[]): string {
  const hasTargets = rows.some(({ target }) => target);
  const columns = ["what", "figure", "beside", ...(hasTargets ? ["target"] : [])];
  const lines = rows.map(({ what, unit, figure, beside, target }) => [
    what,
    `${told(figure)} ${unit}`.trim(),
    beside ? `${beside.what}: ${told(beside.figure)}` : "",
    ...(hasTargets ? [target ? `${target.text}${target.met ? "" : ", **missed**"}` : ""] : []),
  ]);
  return tableOf({ caption: "", columns, rows: lines });
}

function tableOf({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(" | ")} |`;
  return [line(columns), `|${columns.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

function pictureOf(plot: Plot, folder: string): string {
  return `![${plot.title}](${folder}/${plot.name}.svg)`;
}

/** The median and, where there is one, the spread. */
export function told({ median, spread: [least, most] }: Figure): string {
  return least === most ? `${median}` : `${median} (${least}–${most})`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** As GitHub makes them. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .replace(/\s/g, "-");
}

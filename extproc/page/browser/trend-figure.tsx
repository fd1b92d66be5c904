import { useEffect, useRef, useState } from "preact/hooks";
import { type Chart, createChart } from "./chart.js";
import { clockTime, count, decimal } from "./format.js";
import { describeTrend, minutesOf, startOf, type Totals, type Trend, totalsOf } from "./trend.js";

const KEYS = [
  { key: "permitted", name: "let through", isUsual: true },
  { key: "diverted", name: "for an earlier tier", isUsual: false },
  { key: "refused", name: "passed over", isUsual: false },
  { key: "failure", name: "failed", isUsual: true },
] as const satisfies readonly { key: keyof Totals; name: string; isUsual: boolean }[];

/** The last 15 minutes of a backend: a chart, what it says in words, and the same as a table. */
export function TrendFigure({ trend, theme }: { trend: Trend; theme: number }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const [hovered, setHovered] = useState<number>();
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = createChart(place.current, trend, setHovered);
    chart.current = made;
    return () => made.destroy();
    // Colours are read when it is made.
  }, [theme]);
  useEffect(() => chart.current?.update(trend), [trend.endMs, trend.points]);
  return (
    <figure>
      <div class="plot" ref={place} role="img" aria-label={describeTrend(trend)} />
      <figcaption>
        <Legend trend={trend} hovered={hovered} />
        <MinuteTable trend={trend} />
      </figcaption>
    </figure>
  );
}

/** Totals; or the point's figures while the pointer is on it. */
function Legend({ trend, hovered }: { trend: Trend; hovered: number | undefined }) {
  const point = hovered === undefined ? undefined : trend.points[hovered];
  const sums = totalsOf(trend.points);
  const totals = point ?? sums;
  const minutes = Math.round((trend.points.length * trend.periodMs) / 60_000);
  const when = point === undefined ? `${minutes} min` : clockTime(startOf(trend, hovered ?? 0));
  return (
    <ul class="legend">
      <li class="quiet">{when}</li>
      {KEYS.filter(({ key, isUsual }) => isUsual || sums[key] > 0).map(({ key, name }) => (
        <li key={key} data-key={key}>
          <span class="swatch" aria-hidden="true" /> {count(totals[key])} {name}
        </li>
      ))}
    </ul>
  );
}

function MinuteTable({ trend }: { trend: Trend }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {KEYS.map(({ key, name }) => (
                  <th scope="col" key={key}>
                    {name}
                  </th>
                ))}
                <th scope="col">state</th>
              </tr>
            </thead>
            <tbody>
              {minutesOf(trend).map((minute) => (
                <tr key={minute.atMs}>
                  <th scope="row">{clockTime(minute.atMs)}</th>
                  {KEYS.map(({ key }) => (
                    <td key={key}>{decimal(minute[key])}</td>
                  ))}
                  <td>{minute.state?.toLowerCase().replace("_", "-") ?? "unknown"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

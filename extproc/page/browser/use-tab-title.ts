import { useEffect } from "preact/hooks";
import type { Situation, Tone } from "./situation.js";

const MARKS: Readonly<Record<Tone, { colour: string; shape: string; mark: string }>> = {
  good: { colour: "#12805c", shape: "<circle cx='8' cy='8' r='7'/>", mark: "" },
  watch: { colour: "#b7791f", shape: "<path d='M8 1a7 7 0 0 1 0 14z'/>", mark: "◐ " },
  bad: { colour: "#c8321f", shape: "<path d='M5 1h6l4 4v6l-4 4H5l-4-4V5z'/>", mark: "✕ " },
  down: { colour: "#c8321f", shape: "<path d='M5 1h6l4 4v6l-4 4H5l-4-4V5z'/>", mark: "✕ " },
  unknown: { colour: "#6b7280", shape: "<path d='M2 7h12v2H2z'/>", mark: "? " },
};

/** A tab among many tells how things are: by its title, and its icon's shape and colour. */
export function useTabTitle({ tone, headline }: Situation, isUnknown: boolean): void {
  const { colour, shape, mark } = MARKS[isUnknown ? "unknown" : tone];
  const title = isUnknown ? "? llm-breaker" : `${mark}${headline} · llm-breaker`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='${colour}'>${shape}</svg>`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null) icon.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  }, [colour, shape]);
}

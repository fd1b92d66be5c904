import type { Standing } from "./standing.js";

/*
 * States differ by shape, not by colour alone: a full disc, a half one, a cross in an octagon, a lock, a bar.
 */

const OCTAGON = "M5 1h6l4 4v6l-4 4H5l-4-4V5z";
const DISC = "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z";

export function StandingIcon({ standing }: { standing: Standing }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      {shapeOf(standing)}
    </svg>
  );
}

function shapeOf(standing: Standing) {
  if (standing === "closed") {
    return (
      <>
        <path fill="currentColor" d={DISC} />
        <path class="cut" d="M4.8 8.3l2.2 2.2 4.2-4.6" />
      </>
    );
  }
  if (standing === "open") {
    return (
      <>
        <path fill="currentColor" d={OCTAGON} />
        <path class="cut" d="M5.5 5.5l5 5m0-5l-5 5" />
      </>
    );
  }
  if (standing === "probing" || standing === "ramp") {
    return (
      <>
        <path class="line" d={DISC} />
        <path
          fill="currentColor"
          d={standing === "ramp" ? "M8 1a7 7 0 0 1 0 14z" : "M8 8V1a7 7 0 0 1 7 7z"}
        />
      </>
    );
  }
  if (standing === "disabled") {
    return (
      <>
        <path class="line" d={DISC} />
        <path class="line" d="M3.5 12.5l9-9" />
      </>
    );
  }
  return (
    <>
      <path fill="currentColor" d="M3 7h10v8H3z" />
      <path
        class="line"
        d={standing === "forcedOpen" ? "M5 7V4.5a3 3 0 0 1 6 0V7" : "M5 7V4.5a3 3 0 0 1 5.8-1"}
      />
    </>
  );
}

export function ThemeIcon() {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path class="line" d={DISC} />
      <path fill="currentColor" d="M8 1a7 7 0 0 1 0 14z" />
    </svg>
  );
}

import { useContext } from "preact/hooks";
import type { BackendView } from "../../control/schemas.js";
import { StandingIcon } from "./icons.js";
import { Stale } from "./stale.js";
import { STANDING_NAMES, stageOf, standingOf } from "./standing.js";

/** How a backend stands, by a word, a shape and a colour; "was" when that is not known any more. */
export function Badge({ backend }: { backend: BackendView }) {
  const isStale = useContext(Stale);
  const standing = standingOf(backend);
  const stage =
    standing === "ramp" ? ` · stage ${stageOf(backend)}` : standing === "probing" ? " · probing" : "";
  return (
    <span class="badge" data-standing={standing}>
      <StandingIcon standing={standing} />
      {isStale && "was "}
      {STANDING_NAMES[standing]}
      {stage}
    </span>
  );
}

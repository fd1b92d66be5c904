import { useState } from "preact/hooks";
import type { EntryView } from "../../control/schemas.js";
import { causeText } from "./causes.js";
import { deedOf, numbersOf, standingAfter, stateAfter } from "./entry-text.js";
import { moment } from "./format.js";
import { StandingIcon } from "./icons.js";
import { keyOf } from "./store.js";

const FEW = 30;

/** What happened lately, the newest first, with reasons. */
export function Changes({ entries }: { entries: readonly EntryView[] }) {
  const [showsAll, setShowsAll] = useState(false);
  const newestFirst = entries.toReversed();
  const shown = showsAll ? newestFirst : newestFirst.slice(0, FEW);
  return (
    <section class="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">Changes</h2>
      {entries.length === 0 && <p class="quiet">None yet.</p>}
      {entries.length > 0 && (
        <table>
          <thead class="hidden">
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Change</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((entry) => (
              <tr key={keyOf(entry)} data-kind={entry.kind}>
                <th scope="row">
                  <time dateTime={entry.at}>{moment(entry.at)}</time>
                </th>
                <td>
                  <bdi class="name">{entry.backend}</bdi> <Change entry={entry} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!showsAll && newestFirst.length > FEW && (
        <button type="button" class="plain" onClick={() => setShowsAll(true)}>
          Show {newestFirst.length - FEW} more
        </button>
      )}
    </section>
  );
}

function Change({ entry }: { entry: EntryView }) {
  if (entry.kind === "operator") {
    return (
      <>
        <span class="state">{deedOf(entry)}</span>
        <span class="reason">
          by <bdi>{entry.who}</bdi>
          {entry.why !== "" && ": "}
          <bdi>{entry.why}</bdi>
        </span>
      </>
    );
  }
  const numbers = numbersOf(entry);
  const standing = standingAfter(entry);
  return (
    <>
      <span class="state" data-standing={standing}>
        <StandingIcon standing={standing} /> {stateAfter(entry)}
      </span>
      <span class="reason">
        {causeText(entry.cause).label}
        {entry.who !== undefined && (
          <>
            {" "}
            (<bdi>{entry.who}</bdi>: <bdi>{entry.why}</bdi>)
          </>
        )}
      </span>
      {numbers !== "" && <span class="reason quiet">{numbers}</span>}
    </>
  );
}

import { useEffect, useRef } from "preact/hooks";
import type { EntryView } from "../../control/schemas.js";
import { sayEntry } from "./entry-text.js";
import { keyOf } from "./store.js";

/** Says what has just happened; not what was there when the page came. */
export function useNews(entries: readonly EntryView[], say: (text: string) => void): void {
  const last = entries.at(-1);
  const key = last === undefined ? "" : keyOf(last);
  const known = useRef<string | null>(null);
  useEffect(() => {
    const isNews = known.current !== null && known.current !== "" && last !== undefined;
    known.current = key;
    if (isNews) say(sayEntry(last));
  }, [key]);
}

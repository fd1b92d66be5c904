import type { CallerRecord } from "./patient-caller.js";
import type { Seen } from "./world/world.js";

/** An answer that no engine gave to its end was made up, or cut short, by whoever stands between: nobody was served with it. */
export function onlyGiven(callers: readonly CallerRecord[], { nodes, fallback }: Seen): CallerRecord[] {
  const all = [...nodes.flat(), ...fallback];
  const given = new Set(all.filter(({ outcome }) => outcome === "complete").map(({ user }) => user));
  return callers.map((caller) => {
    if (!caller.served || given.has(caller.id)) return caller;
    return { ...caller, served: false, firstTokenMs: 0, detail: "no engine gave this answer to its end" };
  });
}

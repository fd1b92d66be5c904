import type { Logger } from "pino";
import type { Mode } from "../sync/contract.js";
import type { History, OperatorWord } from "./history.js";
import type { Overrides, Word, WordChange } from "./overrides.js";

/** The actions that give a backend a mode, as the API, the command and the history call them. */
export const MODE_OF = { open: "forcedOpen", close: "forcedClosed", disable: "disabled" } as const;

export type ModeAction = keyof typeof MODE_OF;

/** Writes who said what on which backend, and why, to the log and the history. */
export function keepJournal(overrides: Overrides, history: History, log: Logger): () => void {
  return overrides.onChange((change, word) => {
    const { backend, mode, who, why, from } = word;
    if (change === "learned" && word.isWithdrawn) return;
    const action = actionOf(change, mode);
    const forMs = change === "ended" || change === "withdrawn" ? undefined : overrides.remainingMs(word);
    const isOrdered = change === "set" || change === "withdrawn";
    const fields = { backend, action, mode, ...(forMs !== undefined && { forMs }), who, why, from };
    log[isOrdered ? "warn" : "info"](fields, MESSAGES[change]);
    history.addWord(backend, { action, mode, who, why, ...(forMs !== undefined && { forMs }) });
  });
}

/** The same for a reset, which is no word that stays. */
export function noteReset(history: History, log: Logger, word: Pick<Word, "backend" | "who" | "why">): void {
  const { backend, who, why } = word;
  log.warn({ backend, action: "reset", who, why }, "operator's reset");
  history.addWord(backend, { action: "reset", who, why });
}

const MESSAGES: Record<WordChange, string> = {
  set: "operator's override",
  withdrawn: "operator's override withdrawn",
  ended: "operator's override is over",
  learned: "operator's override learned from a gateway or another service",
};

function actionOf(change: WordChange, mode: Mode): OperatorWord["action"] {
  if (change === "withdrawn") return "withdraw";
  if (change !== "set") return change;
  return (Object.keys(MODE_OF) as ModeAction[]).find((action) => MODE_OF[action] === mode) ?? "learned";
}

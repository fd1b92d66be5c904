import { monotonicMs } from "../clock.js";

export type Colour = "plain" | "dim" | "red" | "yellow" | "green" | "cyan";

const CODES: Readonly<Record<Colour, string>> = {
  plain: "",
  dim: "\u001b[2m",
  red: "\u001b[31;1m",
  yellow: "\u001b[33m",
  green: "\u001b[32m",
  cyan: "\u001b[36m",
};
const ERASE_LINE = "\r\u001b[2K";

/** Where the story is told: one line per event, and on a terminal one live line below them. */
export interface Screen {
  event(label: string, text: string, colour?: Colour): void;
  live(text: string): void;
  /** Plain lines, such as the table. */
  print(text: string): void;
}

/** @param isTerminal colours and the live line are for terminals only; elsewhere each event is a plain line */
export function createScreen(write: (text: string) => void, isTerminal: boolean, columns = 100): Screen {
  const startMs = monotonicMs();
  let liveText = "";
  const erase = (): void => {
    if (liveText !== "") write(ERASE_LINE);
  };
  const paint = (text: string, colour: Colour): string =>
    isTerminal && colour !== "plain" ? `${CODES[colour]}${text}\u001b[0m` : text;
  const print = (text: string): void => {
    erase();
    write(`${text}\n`);
    if (liveText !== "") write(liveText);
  };
  return {
    print,
    event(label, text, colour = "plain") {
      print(`${clockText(monotonicMs() - startMs)}  ${paint(label.padEnd(9), colour)}  ${text}`);
    },
    live(text) {
      if (!isTerminal) return;
      erase();
      liveText = text === "" ? "" : paint(text.slice(0, columns - 1), "dim");
      write(liveText);
    },
  };
}

/** "01:02.3" */
export function clockText(sinceStartMs: number): string {
  const tenths = Math.floor(sinceStartMs / 100);
  const minutes = String(Math.floor(tenths / 600)).padStart(2, "0");
  const seconds = String(Math.floor(tenths / 10) % 60).padStart(2, "0");
  return `${minutes}:${seconds}.${tenths % 10}`;
}

import type { Cell } from "./cell.js";

export interface TurnSettings {
  /** In each cell, over all blocks. */
  readonly requests: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
  /** Before each block. */
  readonly prepare?: () => Promise<void>;
}

/** 500 tiny requests are some 50 ms of CPU; of fewer, ticks and the machine's other work are a tenth and more. */
export const fewestPerBlock = 500;

/** One line where figures will be noise. */
export function warnOfFew(perBlock: number, say: (line: string) => void): void {
  if (perBlock >= fewestPerBlock) return;
  say(
    `${perBlock} requests a block: below ${fewestPerBlock} the figures are noise, whatever they say (--requests, --blocks)`,
  );
}

/**
 * Measures every cell once a block. Each block begins with another cell, so that none always comes right after the same
 * neighbour, and finds what that one left in the caches.
 */
export async function measureInTurns(cells: readonly Cell[], settings: TurnSettings): Promise<void> {
  const { requests, blocks, say } = settings;
  const perBlock = Math.ceil(requests / blocks);
  warnOfFew(perBlock, say);
  for (let block = 0; block < blocks; block++) {
    await settings.prepare?.();
    const first = block % cells.length;
    for (const cell of [...cells.slice(first), ...cells.slice(0, first)]) await cell.measure(perBlock);
    const shown = cells.map((cell) => `${cell.name} ${cell.blocks.at(-1)?.toFixed(1)}`);
    say(`block ${block + 1} of ${blocks}: ${shown.join(" · ")} µs`);
  }
}

import type { Readable } from "node:stream";

const keptLines = 20_000;

interface Waiter {
  readonly pattern: RegExp;
  readonly found: (line: string) => void;
}

/** The last 20,000 lines that a child process wrote, with a way to wait for one. */
export class LogLines {
  readonly #lines: string[] = [];
  readonly #waiters = new Set<Waiter>();

  /** Reads `stream` to its end; both of a child's streams may be read into one log. */
  read(stream: Readable): void {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#add(line);
    });
    stream.on("end", () => {
      if (rest) this.#add(rest);
    });
  }

  get all(): readonly string[] {
    return this.#lines;
  }

  matching(pattern: RegExp): string[] {
    return this.#lines.filter((line) => pattern.test(line));
  }

  tail(count: number): string {
    return this.#lines.slice(-count).join("\n");
  }

  /** The first line that matches, also when it was written before the call. */
  async waitFor(pattern: RegExp, timeoutMs: number): Promise<string> {
    const earlier = this.#lines.find((line) => pattern.test(line));
    if (earlier !== undefined) return earlier;
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(
          new Error(
            `no log line matched ${pattern} within ${timeoutMs} ms; the last ones:\n${this.tail(20)}`,
          ),
        );
      }, timeoutMs);
      const found = (line: string): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(line);
      };
      const waiter: Waiter = { pattern, found };
      this.#waiters.add(waiter);
    });
  }

  #add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.splice(0, keptLines / 10);
    for (const waiter of this.#waiters) if (waiter.pattern.test(line)) waiter.found(line);
  }
}

/** Of lines that their reader has not taken. */
const MOST_WAITING_BYTES = 1_048_576;

/** Where log lines go. */
interface Output {
  readonly writableLength: number;
  write(line: string): unknown;
  on(event: "error", listener: () => void): unknown;
}

/**
 * Hands lines to standard output, whose reader may hang or be gone: no line is worth more than the service, which neither waits
 * for its log nor outlives a signal for it. What does not fit any more is dropped; a file takes each line at once.
 *
 * pino's own output tries a broken pipe again for ever when the process exits.
 */
export class LogOutput {
  constructor(private readonly output: Output = process.stdout) {
    output.on("error", () => {});
  }

  write(line: string): void {
    if (this.output.writableLength < MOST_WAITING_BYTES) this.output.write(line);
  }
}

import { ConfigError } from "./config/errors.js";
import type { Service } from "./server.js";
import type { ConfigFile } from "./service-config.js";

/** A file that is empty for a moment is one that is being written. */
const EMPTY = 'is empty: "{}" stands for the defaults';

/** Brings what the file holds into use, or keeps what is in use and says why. One attempt at a time. */
export class Reload {
  private refused: string | undefined;
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private isNextForced = false;

  constructor(
    private readonly file: ConfigFile,
    /** What the service was started with. */
    private inUse: string,
    private readonly service: Pick<Service, "log" | "reconfigure" | "setConfigStale">,
  ) {}

  /** The file may have changed; what was tried already is not tried again unless `isForced`. Never rejects. */
  check(isForced = false): Promise<void> {
    this.isNextForced ||= isForced;
    // Signs that come while an attempt runs make one more attempt, however many they are.
    this.next ??= this.running.then(() => {
      this.next = undefined;
      this.running = this.attempt(this.takeForced());
      return this.running;
    });
    return this.next;
  }

  private takeForced(): boolean {
    const isForced = this.isNextForced;
    this.isNextForced = false;
    return isForced;
  }

  private async attempt(isForced: boolean): Promise<void> {
    let text: string | undefined;
    // Who asks is told again what is wrong.
    if (isForced) this.refused = undefined;
    try {
      text = this.file.read();
      if (text === this.inUse && !isForced) return this.settle();
      if (text === this.refused) return;
      if (text.trim() === "") throw new ConfigError([{ path: [], text: EMPTY }], this.file.path);
      await this.service.reconfigure(this.file.parse(text));
      this.inUse = text;
      this.settle();
    } catch (cause) {
      const located = cause instanceof ConfigError && text ? this.file.locateIn(cause, text) : cause;
      this.refuse(text, located);
    }
  }

  /** The file holds what is in use. */
  private settle(): void {
    if (this.refused !== undefined) this.service.log.info("configuration is good again");
    this.refused = undefined;
    this.service.setConfigStale(false);
  }

  private refuse(text: string | undefined, cause: unknown): void {
    const reason = cause instanceof ConfigError ? cause.message : undefined;
    // A file that is gone has no text; its error stands for it.
    const tried = text ?? `\0${reason}`;
    this.service.setConfigStale(true);
    if (tried === this.refused) return;
    this.refused = tried;
    const fields = reason === undefined ? { err: cause } : { reason };
    this.service.log.error(fields, "configuration refused, the old one goes on");
  }
}

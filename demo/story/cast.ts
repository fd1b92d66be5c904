import type { Child } from "./children.js";

/** Everything that runs during the story; dismissed in reverse order of its entrance. */
export class Cast {
  readonly #stops: (() => Promise<unknown>)[] = [];
  #dismissed = false;

  /** A member that is ready only after the dismissal is stopped at once. */
  async add<T>(member: Promise<T>, stop: (member: T) => Promise<unknown>): Promise<T> {
    const present = await member;
    if (this.#dismissed) await stop(present);
    else this.#stops.push(() => stop(present));
    return present;
  }

  /** Calls `lost` with how the child ended, unless it was dismissed. */
  watch(child: Child, lost: (how: string) => void): void {
    void child.ended.then((how) => {
      if (!this.#dismissed) lost(how);
    });
  }

  async dismiss(): Promise<void> {
    this.#dismissed = true;
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}

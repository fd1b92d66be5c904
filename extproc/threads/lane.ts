/** Gives a place back; further calls do nothing. */
export type Release = () => void;

/**
 * A fixed number of places with a first-come queue. A place is held until the work has really ended, also when
 * nobody waits for it any more: native work can't be cancelled, only kept from piling up.
 */
export class Lane {
  private free: number;
  private readonly waiting: ((release: Release) => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  /** A place within `waitMs`, else undefined. */
  async enter(waitMs: number): Promise<Release | undefined> {
    if (this.free > 0) {
      this.free--;
      return this.makeRelease();
    }
    return new Promise((resolve) => {
      const turn = (release: Release) => {
        clearTimeout(timer);
        resolve(release);
      };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(turn), 1);
        resolve(undefined);
      }, waitMs);
      this.waiting.push(turn);
    });
  }

  private makeRelease(): Release {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.waiting.shift();
      if (next) next(this.makeRelease());
      else this.free++;
    };
  }
}

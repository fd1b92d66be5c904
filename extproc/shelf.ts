import { isDeepStrictEqual } from "node:util";

interface Entry {
  readonly settings: unknown;
  readonly thing: unknown;
  readonly close: () => void;
  users: number;
}

/**
 * What is dear to make or holds state (vocabularies, counters, remembered answers) is handed from one configuration
 * to the next while the settings it was made from are the same, and closed when its last user gives it back.
 */
export class Shelf {
  private readonly entries = new Map<string, Entry>();

  /** What one configuration takes; `release` gives it all back. */
  open(): Hold {
    return new Hold((name, settings, make) => this.take(name, settings, make));
  }

  private take<Thing>(name: string, settings: unknown, make: Make<Thing>): [Thing, () => void] {
    const known = this.entries.get(name);
    const entry =
      known !== undefined && isDeepStrictEqual(known.settings, settings)
        ? known
        : { settings, users: 0, ...made(make()) };
    this.entries.set(name, entry);
    entry.users++;
    return [entry.thing as Thing, () => this.release(name, entry)];
  }

  private release(name: string, entry: Entry): void {
    entry.users--;
    if (entry.users > 0) return;
    if (this.entries.get(name) === entry) this.entries.delete(name);
    entry.close();
  }
}

/** Makes a thing, and says how it is closed when that takes anything. */
export type Make<Thing> = () => { thing: Thing; close?: () => void };

type Take = <Thing>(name: string, settings: unknown, make: Make<Thing>) => [Thing, () => void];

export class Hold {
  private readonly releases: (() => void)[] = [];

  constructor(private readonly takeFromShelf: Take) {}

  /** The thing of that name: the one on the shelf when its settings equal, else a new one. */
  take<Thing>(name: string, settings: unknown, make: Make<Thing>): Thing {
    const [thing, release] = this.takeFromShelf(name, settings, make);
    this.releases.push(release);
    return thing;
  }

  /** Gives everything back; further calls do nothing. */
  release(): void {
    for (const release of this.releases.splice(0)) release();
  }
}

function made<Thing>({ thing, close = () => {} }: ReturnType<Make<Thing>>): Pick<Entry, "thing" | "close"> {
  return { thing, close };
}

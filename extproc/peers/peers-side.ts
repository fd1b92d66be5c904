import { hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { type GroupKey, readKeys } from "./keys.js";
import { openPeers, type Peers, type PeersGroup, type PeersParts } from "./peers.js";
import { MAX_NAME, type PeersSettings } from "./settings.js";

interface Opened {
  readonly settings: PeersSettings;
  readonly keys: readonly GroupKey[];
  readonly peers: Peers;
}

/**
 * The group's connection over all configurations: one at a time, since the next one may want the same port. A key file
 * that has changed counts as a changed setting.
 */
export class PeersSide {
  private opened: Opened | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly group: PeersGroup,
    private readonly log: Logger,
    private readonly parts: PeersParts = {},
  ) {
    group.onChange(() => this.peers?.publishSoon());
  }

  /** Undefined while no peers are configured. */
  get peers(): Peers | undefined {
    return this.opened?.peers;
  }

  /**
   * Brings settings into use; undefined closes.
   * @throws ConfigError or ListenError as `openPeers` does; what was in use before is in use again then.
   */
  apply(settings: PeersSettings | undefined): Promise<void> {
    const applied = this.running.then(() => this.swap(settings));
    this.running = applied.catch(() => {});
    return applied;
  }

  close(): Promise<void> {
    return this.apply(undefined);
  }

  private async swap(settings: PeersSettings | undefined): Promise<void> {
    const keys = settings === undefined ? [] : readKeys(settings.keyFile);
    const before = this.opened;
    if (isDeepStrictEqual([before?.settings, before?.keys ?? []], [settings, keys])) return;
    this.opened = undefined;
    await before?.peers.close();
    if (settings === undefined) return;
    try {
      this.opened = await this.open(settings, keys);
      if (before !== undefined && !isDeepStrictEqual(before.keys, keys))
        this.log.info({ keys: keys.length }, "peers: other keys are in use");
    } catch (cause) {
      if (before !== undefined) await this.restore(before);
      throw cause;
    }
  }

  private async open(settings: PeersSettings, keys: readonly GroupKey[]): Promise<Opened> {
    return { settings, keys, peers: await openPeers(settings, keys, this.group, this.log, this.parts) };
  }

  private async restore({ settings, keys }: Opened): Promise<void> {
    try {
      this.opened = await this.open(settings, keys);
    } catch (cause) {
      this.log.error({ err: cause }, "peers: the connection in use before can't be had again");
    }
  }
}

/** What this member is called where people read of it. */
export function memberName(settings: PeersSettings | undefined): string {
  return settings?.name ?? hostname().slice(0, MAX_NAME);
}

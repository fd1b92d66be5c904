import { lookup, resolveSrv } from "node:dns/promises";
import { isIP } from "node:net";
import type { Logger } from "pino";
import type { GossipSettings } from "./settings.js";

/** An IP address and a port, as one text: `10.0.0.1:7946`, `[fd00::1]:7946`. */
export type Address = string;

/** How names are asked for; both reject when there is no answer. */
export interface Names {
  /** A and AAAA, as this machine resolves names. */
  addressesOf(host: string): Promise<readonly string[]>;
  srv(name: string): Promise<readonly { name: string; port: number }[]>;
}

export const systemNames: Names = {
  async addressesOf(host) {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  },
  srv: (name) => resolveSrv(name),
};

/** More are not dialled, whatever a name server says. */
const MAX_ADDRESSES = 64;

/**
 * Where members may be, by the settings and by DNS. A name that can't be resolved now keeps the addresses it had: a
 * name server that is away is no reason to leave a group.
 */
export class Membership {
  private readonly known = new Map<string, readonly Address[]>();
  private current: ReadonlySet<Address> = new Set();
  private readonly unresolved = new Set<string>();

  constructor(
    private readonly settings: Pick<GossipSettings, "members" | "srv">,
    private readonly log: Pick<Logger, "warn" | "info">,
    private readonly names: Names = systemNames,
  ) {}

  get addresses(): ReadonlySet<Address> {
    return this.current;
  }

  /** Asks for all names, one after the other: each waits on one of the process's few threads. Never rejects. */
  async refresh(): Promise<void> {
    const found = new Set<Address>();
    for (const member of [...this.settings.members, ...(await this.fromSrv())]) {
      for (const address of await this.addressesOf(member)) found.add(address);
    }
    this.current = new Set([...found].slice(0, MAX_ADDRESSES));
  }

  private async fromSrv(): Promise<readonly string[]> {
    const { srv } = this.settings;
    if (srv === undefined) return [];
    return this.ask(srv, async () => {
      const records = await this.names.srv(srv);
      return records.slice(0, MAX_ADDRESSES).map(({ name, port }) => `${name}:${port}`);
    });
  }

  private async addressesOf(member: string): Promise<readonly Address[]> {
    const { host, port } = splitAddress(member);
    if (isIP(host) !== 0) return [joinAddress(host, port)];
    return this.ask(member, async () => {
      const addresses = await this.names.addressesOf(host);
      return addresses.map((address) => joinAddress(address, port));
    });
  }

  private async ask(name: string, question: () => Promise<readonly string[]>): Promise<readonly string[]> {
    try {
      const answer = await question();
      this.known.set(name, answer);
      if (this.unresolved.delete(name)) this.log.info({ name }, "peers: name is resolved again");
      return answer;
    } catch (cause) {
      if (!this.unresolved.has(name)) {
        this.log.warn({ name, reason: (cause as Error).message }, "peers: name can't be resolved");
      }
      this.unresolved.add(name);
      return this.known.get(name) ?? [];
    }
  }
}

/** An IPv6 host loses its brackets. */
export function splitAddress(address: Address): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  return { host, port: Number(address.slice(colon + 1)) };
}

export function joinAddress(host: string, port: number): Address {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

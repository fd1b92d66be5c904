import { lookup, Resolver } from "node:dns/promises";
import { Lane } from "../threads/lane.js";

export interface ServiceRecord {
  readonly name: string;
  readonly port: number;
}

/** What is asked of DNS; each rejects with an error whose `code` is c-ares' or getaddrinfo's. */
export interface Dns {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
  resolveSrv(name: string): Promise<ServiceRecord[]>;
  /** As the operating system finds hosts: /etc/hosts, search domains, then DNS. */
  lookup(name: string): Promise<string[]>;
  close(): void;
}

const TIME_LIMIT_MS = 1_000;
const TRIES = 2;
/** getaddrinfo can't be given up and blocks one of the four threads that files are read by, too. */
const LOOKUPS_AT_ONCE = 2;
const LOOKUP_WAIT_MS = 5_000;
const lookups = new Lane(LOOKUPS_AT_ONCE);

/** @param servers instead of the system's: `host` or `host:port` */
export function systemDns(servers?: readonly string[]): Dns {
  const resolver = new Resolver({ timeout: TIME_LIMIT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return {
    resolve4: (name) => resolver.resolve4(name),
    resolve6: (name) => resolver.resolve6(name),
    resolveSrv: (name) => resolver.resolveSrv(name),
    lookup: lookupInTurn,
    close: () => resolver.cancel(),
  };
}

async function lookupInTurn(name: string): Promise<string[]> {
  const release = await lookups.enter(LOOKUP_WAIT_MS);
  if (release === undefined) throw new Error(`${name} was not looked up: too many names are waited for`);
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } finally {
    release();
  }
}

/** DNS said that there is nothing under the name, which is an answer. */
export function isNothing(cause: unknown): boolean {
  const code = (cause as NodeJS.ErrnoException).code;
  return code === "ENOTFOUND" || code === "ENODATA";
}

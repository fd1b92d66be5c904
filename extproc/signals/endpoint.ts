import { isIP } from "node:net";

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Where one engine's page is. */
export interface Endpoint {
  /** What tells it from others, and what the log calls it. */
  readonly name: string;
  readonly url: URL;
  /** Instead of asking DNS for the URL's host; several are tried in turn, as one engine. */
  readonly addresses: readonly Address[];
}

/** The URL's host without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

export function toAddress(address: string): Address {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/** The engine at an address that the URL's host stands for, under that host's name and another port if given. */
export function endpointAt(url: URL, address: string, port = url.port): Endpoint {
  const at = new URL(url);
  at.port = port;
  const host = isIP(address) === 6 ? `[${address}]` : address;
  const shownPort = at.port === "" ? "" : `:${at.port}`;
  return { name: `${host}${shownPort}`, url: at, addresses: [toAddress(address)] };
}

import { isIP } from "node:net";

const MAX_BODY_BYTES = 1_048_576;

/** A request's part that says whether it may be answered at all. */
export interface Approach {
  readonly method: string;
  /** Somebody follows a link to the live page, from a chat or a dashboard: it holds nothing, and stands in nobody's frame. */
  readonly opensPage: boolean;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly contentType: string | undefined;
  readonly contentLength: string | undefined;
}

export interface Refusal {
  readonly status: 403 | 411 | 413 | 415;
  readonly message: string;
}

/**
 * What a page in somebody's browser could do, without his knowing: ask from another origin, or by a name of its own that resolves to
 * this address. `isNamed`: the server wants a token or a certificate, which such a page does not have, so any host is good.
 */
export function refusalOf(approach: Approach, isNamed: boolean): Refusal | undefined {
  const { method, host, origin, fetchSite } = approach;
  if (!isNamed && !isLocalHost(host)) {
    return {
      status: 403,
      message:
        "the host header must be an IP address or localhost; set control.tokenFile or control.tls to be asked by name",
    };
  }
  if (origin !== undefined && !isSameOrigin(origin, host)) {
    return { status: 403, message: "requests from other origins are refused" };
  }
  if (!approach.opensPage && (fetchSite === "cross-site" || fetchSite === "same-site")) {
    return { status: 403, message: "requests from other sites are refused" };
  }
  return method === "POST" ? bodyRefusal(approach) : undefined;
}

/** Node's parser sees to it that a body is no longer than its length. */
function bodyRefusal({ contentType, contentLength }: Approach): Refusal | undefined {
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? "")) {
    return { status: 415, message: "content-type must be application/json" };
  }
  if (contentLength === undefined) return { status: 411, message: "content-length is required" };
  if (Number(contentLength) <= MAX_BODY_BYTES) return undefined;
  return { status: 413, message: `the body must be at most ${MAX_BODY_BYTES} bytes` };
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

function isLocalHost(host: string | undefined): boolean {
  const [, name] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host ?? "") ?? [];
  if (name === undefined || name === "") return false;
  const bare = name.replace(/^\[|\]$/g, "");
  return isIP(bare) !== 0 || bare.toLowerCase() === "localhost";
}

/** Only processes of this machine can reach it. */
export function isLoopback(address: string): boolean {
  const host = address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

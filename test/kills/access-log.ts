import { readFileSync } from "node:fs";

/** What the first gateway's access log tells of a request. */
export interface Accessed {
  /** Of the gate, when the request came; "-" for one that met none. */
  readonly vm: string;
  /** Envoy's response code details. */
  readonly details: string;
}

/** By the caller's credential. */
export function readAccessLog(file: string): Map<string, Accessed> {
  const accessed = new Map<string, Accessed>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, credential, vm = "-", details = "-"] = /^Bearer (\S+) (\S+) (\S+)$/.exec(line) ?? [];
    if (credential !== undefined) accessed.set(credential, { vm, details });
  }
  return accessed;
}

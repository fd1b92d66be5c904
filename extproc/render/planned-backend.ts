import { isIP } from "node:net";
import { type BackendFields, BODY_KEYS, basePathOf, DEGRADING_KEYS, METER_KEYS } from "./backend-fields.js";
import type { BackendUrl, PlannedBackend, PlannedCredential } from "./plan.js";

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** What one tier's entry in policy.yaml comes to. */
export function plannedBackend(alias: string, fields: BackendFields): PlannedBackend {
  const given = fields.url === undefined ? undefined : new URL(fields.url);
  const rewritesBody = BODY_KEYS.some((key) => fields[key] !== undefined);
  return {
    alias,
    url: given && backendUrl(given, fields.caFile),
    cluster: fields.cluster ?? alias,
    metadata: metadataOf(alias, fields, given),
    rewritesBody,
    degradesBody: !rewritesBody && DEGRADING_KEYS.some((key) => fields[key] !== undefined),
    credential: credentialOf(alias, fields),
    isHttp2: fields.http2,
  };
}

function backendUrl(given: URL, caFile: string): BackendUrl {
  const host = given.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: given.port === "" ? (DEFAULT_PORTS[given.protocol] ?? 80) : Number(given.port),
    isTls: given.protocol === "https:",
    isAddress: isIP(host) !== 0,
    caFile,
  };
}

function metadataOf(alias: string, fields: BackendFields, given: URL | undefined): Record<string, string> {
  const metadata: Record<string, string> = { backend: alias };
  if (fields.keyFile !== undefined) metadata.credentials = "own";
  const derived = { host: hostOf(given), pathPrefix: basePathOf(given) };
  for (const key of [...METER_KEYS, ...BODY_KEYS, ...DEGRADING_KEYS]) {
    const value = fields[key] ?? (key === "host" || key === "pathPrefix" ? derived[key] : undefined);
    if (value !== undefined) metadata[key] = textOf(value);
  }
  return metadata;
}

/** With the port only when it is not its scheme's own; undefined for an address, which no server goes by. */
function hostOf(given: URL | undefined): string | undefined {
  return given === undefined || isIP(given.hostname.replace(/^\[(.*)\]$/, "$1")) !== 0
    ? undefined
    : given.host;
}

/** Metadata values are texts. */
function textOf(
  value: string | number | boolean | readonly string[] | Readonly<Record<string, string>>,
): string {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([from, to]) => `${from}=${to}`)
    .join(", ");
}

function credentialOf(alias: string, fields: BackendFields): PlannedCredential | undefined {
  if (fields.keyFile === undefined) return undefined;
  return {
    header: fields.keyHeader ?? "authorization",
    prefix: fields.keyPrefix ?? "",
    secretFile: fields.keyFile,
    secretName: `${alias}-key`,
  };
}

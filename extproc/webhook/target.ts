import { ConfigError } from "../config/errors.js";
import { readHeadersFile } from "../config/headers-file.js";
import { readText } from "../config/text.js";
import type { WebhookSettings } from "./settings.js";

const LEAST_SECRET_BYTES = 24;
const SECRET_PREFIX = "whsec_";
const URL_RULE = "must be a URL like https://host/path, without user or password; use headersFile for those";
/** Ours, and those that belong to the connection. */
const RESERVED =
  /^(webhook-.*|content-type|content-length|content-encoding|host|connection|transfer-encoding|user-agent)$/;

/** Where a webhook's messages go, and what only it knows. Nothing of it but `label` is ever logged. */
export interface Target {
  readonly settings: WebhookSettings;
  readonly url: string;
  /** The URL's host: paths are secrets. */
  readonly label: string;
  readonly secret: Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws ConfigError that names the field; never what stands in a file, or in a URL. */
export function readTargets(webhooks: readonly WebhookSettings[]): Target[] {
  return webhooks.map((settings, index) => {
    const at = (field: string) => ["webhooks", index, field];
    const { url, urlFile, secretFile, headersFile } = settings;
    if (url === undefined && urlFile === undefined)
      throw ConfigError.of(at("url"), "or urlFile must be given");
    if (url !== undefined && urlFile !== undefined)
      throw ConfigError.of(at("urlFile"), "must not stand beside url");
    const place =
      urlFile === undefined
        ? parseUrl(url ?? "", at("url"))
        : parseUrl(readFile(urlFile, at("urlFile")).trim(), at("urlFile"));
    return {
      settings,
      url: place.href,
      label: place.host,
      secret:
        secretFile === undefined
          ? undefined
          : parseSecret(readFile(secretFile, at("secretFile")), at("secretFile")),
      headers: headersFile === undefined ? {} : readHeadersFile(headersFile, at("headersFile"), RESERVED),
    };
  });
}

type Path = readonly PropertyKey[];

function readFile(file: string, path: Path): string {
  try {
    return readText(file);
  } catch (cause) {
    throw ConfigError.of(path, `must be a file that can be read: ${(cause as Error).message}`, cause);
  }
}

function parseUrl(given: string, path: Path): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isGood = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === "";
  if (!isGood) throw ConfigError.of(path, URL_RULE);
  url.hash = "";
  return url;
}

function parseSecret(text: string, path: Path): Buffer {
  const line = text.trim();
  const secret = line.startsWith(SECRET_PREFIX)
    ? Buffer.from(line.slice(SECRET_PREFIX.length), "base64")
    : Buffer.from(line);
  if (secret.length >= LEAST_SECRET_BYTES && !/[\r\n]/.test(line)) return secret;
  throw ConfigError.of(
    path,
    `must hold one line with a secret of at least ${LEAST_SECRET_BYTES} bytes, like that of "openssl rand -hex 32"`,
  );
}

import { createServer, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { createSecureContext } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import type { Logger } from "pino";
import { ConfigError } from "../config/errors.js";
import { createApp } from "./app.js";
import { Credentials, checkReach } from "./credentials.js";
import { DryRun } from "./dry-run.js";
import { EventFeed } from "./event-feed.js";
import type { ControlParts } from "./fleet.js";
import type { Overrides } from "./overrides.js";
import type { ControlSettings } from "./settings.js";
import type { StaticFile } from "./static-page.js";

const MAX_CONNECTIONS = 64;
const TIME_LIMIT_MS = 10_000;
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: TIME_LIMIT_MS,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
};

export interface ControlServer {
  /** Not listening yet. */
  readonly server: Server | TlsServer;
  readonly scheme: "http" | "https";
  /** Ends event streams, and lets go of files; the server itself is the caller's to close. */
  close(): void;
}

/**
 * The control API's server.
 * @param address where it is going to listen
 * @throws ConfigError when it could be used by anybody on the network, or a file of the settings is no good
 */
export function createControlServer(
  address: string,
  settings: ControlSettings,
  parts: ControlParts & { readonly overrides: Overrides; readonly page: readonly StaticFile[] },
  log: Logger,
): ControlServer {
  checkReach(address, settings);
  const isTls = settings.tls !== undefined;
  const credentials = new Credentials(settings, log, (tls) => (server as TlsServer).setSecureContext(tls));
  const feed = new EventFeed(parts.history);
  const app = createApp({
    ...parts,
    feed,
    dryRun: new DryRun(parts.fleet, parts.history),
    log,
    tokens: () => credentials.tokens,
    hasClientCertificates: settings.tls?.clientCaFile !== undefined,
  });
  const onRequest = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = isTls ? tlsServer(settings, credentials, onRequest) : createServer(LIMITS, onRequest);
  server.maxConnections = MAX_CONNECTIONS;
  const close = () => {
    feed.close();
    credentials.close();
  };
  return { server, scheme: isTls ? "https" : "http", close };
}

function tlsServer(
  { tls }: ControlSettings,
  credentials: Credentials,
  onRequest: ReturnType<typeof getRequestListener>,
): TlsServer {
  const wantsCertificate = tls?.clientCaFile !== undefined;
  try {
    createSecureContext(credentials.tls);
  } catch (cause) {
    credentials.close();
    throw ConfigError.of(
      ["control", "tls"],
      `has files that do not fit: ${(cause as Error).message}; they must be a certificate, its key and a CA, PEM`,
      cause,
    );
  }
  return createTlsServer(
    {
      ...LIMITS,
      ...credentials.tls,
      requestCert: wantsCertificate,
      rejectUnauthorized: wantsCertificate,
      minVersion: "TLSv1.2",
      handshakeTimeout: TIME_LIMIT_MS,
    },
    onRequest,
  );
}

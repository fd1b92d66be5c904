import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ServerOptions } from "node:https";
import type { Logger } from "pino";
import { ConfigError } from "../config/errors.js";
import { readText } from "../config/text.js";
import { watchFile } from "../config/watch.js";
import { isLoopback } from "./guard.js";
import type { ControlSettings } from "./settings.js";
import { Tokens } from "./tokens.js";

type TlsSettings = NonNullable<ControlSettings["tls"]>;
type TlsFiles = Pick<ServerOptions, "cert" | "key" | "ca">;

/**
 * @throws ConfigError when anybody on the network could take control, or nobody could.
 */
export function checkReach(address: string, { tokenFile, tls }: ControlSettings): void {
  if (isLoopback(address) || tokenFile !== undefined || tls?.clientCaFile !== undefined) return;
  throw ConfigError.of(
    ["listen", "admin"],
    `${address} can be reached from elsewhere: set control.tokenFile (bearer tokens) or control.tls with clientCaFile (client certificates), or listen on 127.0.0.1`,
  );
}

/** What the files of the settings hold, read anew when they change; what is wrong then is told and the old goes on. */
export class Credentials {
  tokens: Tokens | undefined;
  tls: TlsFiles | undefined;
  private readonly unwatch: (() => void)[] = [];

  /**
   * @param onTls called with certificates that have changed
   * @throws ConfigError for a file that can't be used
   */
  constructor(
    settings: ControlSettings,
    log: Pick<Logger, "info" | "error">,
    onTls: (tls: TlsFiles) => void,
  ) {
    const { tokenFile, tls } = settings;
    if (tokenFile !== undefined) {
      this.tokens = Tokens.read(["control", "tokenFile"], tokenFile);
      this.watch([tokenFile], log, () => {
        this.tokens = Tokens.read(["control", "tokenFile"], tokenFile);
      });
    }
    if (tls !== undefined) {
      this.tls = readTls(tls);
      const { certFile, keyFile, clientCaFile } = tls;
      this.watch([certFile, keyFile, ...(clientCaFile === undefined ? [] : [clientCaFile])], log, () => {
        onTls(readTls(tls));
      });
    }
  }

  close(): void {
    for (const end of this.unwatch.splice(0)) end();
  }

  private watch(files: readonly string[], log: Pick<Logger, "info" | "error">, read: () => void): void {
    const onChange = () => {
      try {
        read();
        log.info({ files }, "control credentials read anew");
      } catch (cause) {
        log.error({ reason: (cause as Error).message }, "control credentials refused, the old ones go on");
      }
    };
    for (const file of files) this.unwatch.push(watchFile(file, onChange));
  }
}

function readTls({ certFile, keyFile, clientCaFile }: TlsSettings): TlsFiles {
  return {
    cert: readCertificate("certFile", certFile),
    key: readPem("keyFile", keyFile, "private key", createPrivateKey),
    ...(clientCaFile !== undefined && { ca: readCertificate("clientCaFile", clientCaFile) }),
  };
}

function readCertificate(field: string, file: string): string {
  return readPem(field, file, "certificate", (text) => new X509Certificate(text));
}

/** TLS takes an empty file for none: of an authority, and it believes every public one; of a key, and it answers nobody. */
function readPem(field: string, file: string, what: string, parse: (text: string) => unknown): string {
  const text = readFile(field, file);
  try {
    parse(text);
    return text;
  } catch (cause) {
    throw ConfigError.of(["control", "tls", field], `${file} holds no ${what}, which must be PEM`, cause);
  }
}

function readFile(field: string, file: string): string {
  try {
    return readText(file);
  } catch (cause) {
    throw ConfigError.of(
      ["control", "tls", field],
      `${file} can't be read: ${(cause as Error).message}`,
      cause,
    );
  }
}

import { readFileSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { createSecureContext } from "node:tls";
import { CliError } from "../cli-error.js";
import { type Command, DEFAULT_URL } from "./arguments.js";
import { explain } from "./connection-problem.js";

const TIME_LIMIT_MS = 15_000;
const MAX_ANSWER_BYTES = 16_777_216;

/** What may stand in a header, without blanks. */
const TOKEN = /^[\x21-\x7e]+$/;

interface TlsFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

interface Connection {
  readonly url: URL;
  readonly token: string | undefined;
  readonly tls: TlsFiles;
}

/** Asks the control API. */
export class ControlClient {
  constructor(private readonly connection: Connection) {}

  /** @throws CliError for files and addresses that can't be used */
  static of({ options }: Command, environment: NodeJS.ProcessEnv): ControlClient {
    const address = options.url ?? environment.LLM_BREAKER_URL ?? DEFAULT_URL;
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
      throw new CliError(2, `--url must be like ${DEFAULT_URL}, got "${address}"`);
    }
    const tokenFile = options["token-file"] ?? environment.LLM_BREAKER_TOKEN_FILE;
    const token =
      tokenFile === undefined ? undefined : firstToken(readFile(tokenFile).toString("utf8"), tokenFile);
    const ca = options["ca-file"] ?? environment.LLM_BREAKER_CA_FILE;
    const cert = options["cert-file"] ?? environment.LLM_BREAKER_CERT_FILE;
    const key = options["key-file"] ?? environment.LLM_BREAKER_KEY_FILE;
    if ((cert === undefined) !== (key === undefined)) {
      throw new CliError(2, "--cert-file and --key-file are needed together");
    }
    const tls = {
      ...(ca !== undefined && { ca: readFile(ca) }),
      ...(cert !== undefined && { cert: readFile(cert) }),
      ...(key !== undefined && { key: readFile(key) }),
    };
    checkFiles(tls);
    return new ControlClient({ url: new URL(address), token, tls });
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.ask("GET", path);
  }

  post<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.ask("POST", path, JSON.stringify(body));
  }

  delete<Answer>(path: string): Promise<Answer> {
    return this.ask("DELETE", path);
  }

  /** An answer that does not end by itself. @throws CliError for any status but 200 */
  async open(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const answer = await this.send("GET", path, undefined, headers);
    if (answer.statusCode === 200) {
      if (answer.headers["content-type"]?.startsWith("text/event-stream")) return answer;
      answer.destroy();
      throw new CliError(1, `${this.connection.url.origin} is no control API: it sends no events`);
    }
    throw this.refusal(answer.statusCode ?? 0, await readAll(answer));
  }

  private async ask<Answer>(method: string, path: string, body?: string): Promise<Answer> {
    const answer = await this.send(method, path, body, {});
    const text = await readAll(answer);
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299) throw this.refusal(status, text);
    try {
      return JSON.parse(text) as Answer;
    } catch (cause) {
      throw new CliError(1, `${this.connection.url.origin} is no control API: its answer is no JSON`, {
        cause,
      });
    }
  }

  private send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<IncomingMessage> {
    const { url, token, tls } = this.connection;
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const fail = (why: string, cause?: unknown) => {
        reject(new CliError(1, `${url.origin} can't be asked: ${why}`, { cause }));
      };
      const outgoing = request(
        new URL(path, url),
        {
          method,
          ...tls,
          headers: {
            ...headers,
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(body !== undefined && {
              "content-type": "application/json",
              "content-length": Buffer.byteLength(body),
            }),
          },
        },
        (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
      );
      const timer = setTimeout(() => {
        fail(explain(url, new Error(`no answer within ${TIME_LIMIT_MS / 1000} s`)));
        outgoing.destroy();
      }, TIME_LIMIT_MS);
      outgoing.on("error", (cause: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        fail(explain(url, cause), cause);
      });
      outgoing.end(body);
    });
  }

  private refusal(status: number, text: string): CliError {
    const message = messageIn(text);
    if (message === undefined) {
      const { origin } = this.connection.url;
      return new CliError(
        1,
        `${origin} is no control API: it answered status ${status}; is listen.admin this address?`,
      );
    }
    const remedy = status === 401 ? "; --token-file names the file that holds it" : "";
    return new CliError(1, message + remedy);
  }
}

/** What is wrong, by the service's own words; a proxy's page has none. */
function messageIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { message?: string } } | null)?.error?.message;
  } catch {
    return undefined;
  }
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => {
    answer.destroy(new Error(`it did not come whole within ${TIME_LIMIT_MS / 1000} s`));
  }, TIME_LIMIT_MS);
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > MAX_ANSWER_BYTES) throw new Error(`it is larger than ${MAX_ANSWER_BYTES} bytes`);
      pieces.push(piece);
    }
  } catch (cause) {
    throw new CliError(1, `the answer broke off: ${(cause as Error).message}`, { cause });
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function readFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new CliError(2, `${file} can't be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}

function checkFiles(tls: TlsFiles): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const reason = (cause as { reason?: string }).reason ?? (cause as Error).message;
    const rule = "they must be PEM, and the key that of the certificate";
    throw new CliError(2, `--ca-file, --cert-file and --key-file can't be used: ${reason}; ${rule}`, {
      cause,
    });
  }
}

/** The service's own file of `name:token` lines will do. */
function firstToken(text: string, file: string): string {
  const line = text.split(/\r?\n/).find((each) => each.trim() !== "" && !each.startsWith("#"));
  const token = line?.trim().replace(/^[^:]*:/, "") ?? "";
  if (TOKEN.test(token)) return token;
  throw new CliError(2, `${file} holds no token`);
}

import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

/** What a caller asked, whole, so that it can be asked again elsewhere. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export class UpstreamError extends Error {
  override name = "UpstreamError";
}

/** Of one connection only, and not to be passed on. */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
/** An error object as the first event of a stream, or as a whole body: engines send both with a 200. */
const errorInside = /^\s*(?:event:[^\n]*\n)?(?:data:)?\s*\{\s*"(?:error"|object"\s*:\s*"error")/;

export function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));
}

/**
 * Asks one server, and gives its answer once the first byte of the body is there, with nothing of it read. `signal` ends the
 * call until then, and has no say afterwards.
 * @throws UpstreamError when the server failed, by status or by what the body begins with
 */
export function ask(port: number, asked: Ask, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, path, headers, body } = asked;
  return new Promise((resolve, reject) => {
    const call = request({
      host: "127.0.0.1",
      port,
      method,
      path,
      agent,
      headers: { ...passedOn(headers), host: `127.0.0.1:${port}`, "content-length": body.length },
    });
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", giveUp);
      call.destroy();
      reject(error);
    };
    const giveUp = (): void => fail(signal.reason);
    const onFirstByte = (message: IncomingMessage): void => {
      const first = message.read() as Buffer | null;
      const error = errorOf(message.statusCode ?? 0, first);
      if (error) {
        fail(error);
        return;
      }
      if (first) message.unshift(first);
      signal.removeEventListener("abort", giveUp);
      resolve(message);
    };
    call.on("error", fail);
    call.on("response", (message) => {
      message.on("error", fail);
      message.once("readable", () => onFirstByte(message));
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp);
    call.end(body);
  });
}

function errorOf(status: number, first: Buffer | null): UpstreamError | undefined {
  if (status === 429 || status >= 500) return new UpstreamError(`status ${status}`);
  if (first && errorInside.test(first.toString("latin1", 0, 512)))
    return new UpstreamError(`an error inside an answer of status ${status}`);
  return undefined;
}

import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { answerText, type Endpoint, type Endpoints } from "./http.js";
import { BodyError, readBody } from "./read-body.js";
import type { SyncRequest, SyncResponse } from "./sync/contract.js";
import type { Admission } from "./sync/token.js";
import { WireError } from "./wire/reader.js";
import { readSyncRequest } from "./wire/sync-request.js";
import { writeSyncResponse } from "./wire/sync-response.js";

const MAX_BODY_BYTES = 1_048_576;
const BODY_TIMEOUT_MS = 2_000;
/** Those that are refused ask each second. */
const COMPLAIN_EVERY_MS = 60_000;
const CONTENT_TYPE = "application/x-protobuf";
const NO_TOKEN = "the token of sync.tokenFile is missing or another one";

interface Refusal {
  readonly status: number;
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** POST /v1/sync. `admission` gives the one in force; who is refused by it is told in the log, since Envoy only sees silence. */
export function syncEndpoint(
  gateways: { exchange(request: SyncRequest): SyncResponse },
  admission: () => Admission,
  log: Pick<Logger, "warn">,
): Endpoints {
  let complainedMs = Number.NEGATIVE_INFINITY;
  const complain = (address: string | undefined) => {
    const now = performance.now();
    if (now - complainedMs < COMPLAIN_EVERY_MS) return;
    complainedMs = now;
    log.warn({ address }, `a gateway is refused: ${NO_TOKEN}`);
  };
  const sync: Endpoint = async (request, response) => {
    // What is left of a refused request's body is not waited for.
    const refuse = ({ status, line, headers }: Refusal) =>
      answerText(response, status, line, { connection: "close", ...headers });
    const refusal = judge(request, admission());
    if (refusal?.status === 401) complain(request.socket.remoteAddress);
    if (refusal !== undefined) return refuse(refusal);
    try {
      const told = readSyncRequest(await readBody(request, MAX_BODY_BYTES, BODY_TIMEOUT_MS));
      const answer = writeSyncResponse(gateways.exchange(told));
      response.writeHead(200, { "content-type": CONTENT_TYPE, "content-length": answer.length });
      response.end(answer);
    } catch (cause) {
      if (cause instanceof BodyError) refuse({ status: cause.status, line: cause.message });
      else if (cause instanceof WireError) refuse({ status: 400, line: `no SyncRequest: ${cause.message}` });
      else throw cause;
    }
  };
  return new Map([["/v1/sync", sync]]);
}

function judge({ method, headers }: IncomingMessage, mayPass: Admission): Refusal | undefined {
  if (method !== "POST")
    return { status: 405, line: "only POST is answered here", headers: { allow: "POST" } };
  if (!mayPass(headers.authorization))
    return {
      status: 401,
      line: NO_TOKEN,
      headers: { "www-authenticate": "Bearer" },
    };
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== CONTENT_TYPE) return { status: 415, line: `content-type must be ${CONTENT_TYPE}` };
  return undefined;
}

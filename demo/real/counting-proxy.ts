import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from "node:http";
import { monotonicMs } from "../clock.js";
import { type Arrival, ArrivalLog } from "../fleet/arrivals.js";
import { listen, stopListening } from "../fleet/listen.js";
import { askedTokens, isProbe } from "../fleet/prompt.js";
import type { ChatBody, CountPromptTokens } from "../fleet/settings.js";

/** Stands before the real server and only counts: bytes go through as they are, cuts are passed on as cuts. */
export interface CountingProxy {
  readonly arrivals: ArrivalLog;
  readonly port: number;
  /** While down, connections are refused as by a dead server; requests on live ones are counted and cut. */
  setDown(down: boolean): Promise<void>;
  stop(): Promise<void>;
}

const PURPOSE = "the counting proxy before the real model";

/** @throws PortBusyError */
export async function startCountingProxy(settings: {
  readonly name: string;
  readonly port: number;
  readonly serverPort: number;
  readonly countPromptTokens: CountPromptTokens;
}): Promise<CountingProxy> {
  const { name, port, serverPort, countPromptTokens } = settings;
  const arrivals = new ArrivalLog();
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  let isDown = false;

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arrival = arrivals.open(name, incoming.url ?? "/", monotonicMs(), Date.now());
    response.on("close", () => arrivals.close(arrival, "clientLeft", 499, monotonicMs()));
    const parts: Buffer[] = [];
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
    const body = Buffer.concat(parts);
    describe(arrival, body, countPromptTokens);
    if (arrival.probe) arrivals.probes++;
    if (isDown) return cut(arrival, response);
    forward(incoming, body, arrival, response);
  };

  const cut = (arrival: Arrival, response: ServerResponse): void => {
    arrivals.close(arrival, "cut", 0, monotonicMs());
    response.socket?.resetAndDestroy();
  };

  const forward = (
    incoming: IncomingMessage,
    body: Buffer,
    arrival: Arrival,
    response: ServerResponse,
  ): void => {
    const { method, url, headers } = incoming;
    const outgoing = openRequest(
      { host: "127.0.0.1", port: serverPort, agent, method, path: url, headers: withLength(headers, body) },
      (answer) => pass(answer, arrival, response),
    );
    outgoing.on("error", () => cut(arrival, response));
    response.on("close", () => outgoing.destroy());
    outgoing.end(body);
  };

  const pass = (answer: IncomingMessage, arrival: Arrival, response: ServerResponse): void => {
    const status = answer.statusCode ?? 502;
    const isStream = (answer.headers["content-type"] ?? "").startsWith("text/event-stream");
    // An answer in one piece is passed on at its end, so that its end is filed before anybody can see it.
    const held: Buffer[] = [];
    if (isStream) response.writeHead(status, answer.headers);
    answer.on("data", (chunk: Buffer) => {
      if (isStream) response.write(chunk);
      else held.push(chunk);
    });
    answer.on("error", () => cut(arrival, response));
    answer.on("end", () => {
      arrivals.close(arrival, status < 400 ? "complete" : "error", status, monotonicMs());
      if (!isStream) response.writeHead(status, answer.headers);
      response.end(Buffer.concat(held));
    });
  };

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  const listening = await listen(server, port, PURPOSE);
  return {
    arrivals,
    port: listening,
    async setDown(down) {
      if (down === isDown) return;
      isDown = down;
      if (down) stopListening(server);
      else await listen(server, listening, PURPOSE);
    },
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function withLength(headers: IncomingMessage["headers"], body: Buffer): IncomingMessage["headers"] {
  const { "transfer-encoding": _, ...rest } = headers;
  return { ...rest, "content-length": String(body.length) };
}

function describe(arrival: Arrival, body: Buffer, countPromptTokens: CountPromptTokens): void {
  let parsed: ChatBody;
  try {
    parsed = JSON.parse(body.toString("utf8")) as ChatBody;
  } catch {
    return;
  }
  arrival.user = typeof parsed.user === "string" ? parsed.user : "";
  arrival.streamed = parsed.stream === true;
  arrival.maxTokens = askedTokens(parsed);
  arrival.probe = isProbe(parsed);
  void countPromptTokens(parsed).then((tokens) => {
    arrival.promptTokens = tokens;
  });
}

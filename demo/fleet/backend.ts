import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { monotonicMs } from "../clock.js";
import { between, type Random } from "../random.js";
import { type Arrival, ArrivalLog } from "./arrivals.js";
import {
  badRequest,
  cudaOutOfMemory,
  type EngineError,
  engineDead,
  notFound,
  wrongKey,
} from "./error-bodies.js";
import { type Condition, type Fault, FaultBoard } from "./faults.js";
import { answerStreamed, answerWhole, type Turn } from "./generation.js";
import { listen, stopListening } from "./listen.js";
import { EngineMetrics, HONEST_PAGE } from "./metrics.js";
import { askedTokens, isProbe } from "./prompt.js";
import { Scheduler } from "./scheduler.js";
import { SeenValues } from "./seen-values.js";
import type { BackendSettings, ChatBody, CountPromptTokens } from "./settings.js";

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

/** One OpenAI-compatible inference server that answers with plain words at an engine's pace, and can be made ill. */
export class Backend {
  readonly arrivals = new ArrivalLog();
  readonly seen = new SeenValues();
  readonly settings: BackendSettings;
  /** What /metrics says. */
  page = HONEST_PAGE;
  readonly #random: Random;
  readonly #countTokens: CountPromptTokens;
  readonly #board = new FaultBoard();
  readonly #metrics = new EngineMetrics();
  readonly #scheduler: Scheduler;
  readonly #server: Server;
  readonly #live = new Map<ServerResponse, Arrival>();
  #port = 0;
  #reopening: NodeJS.Timeout | undefined;

  constructor(settings: BackendSettings, random: Random, countTokens: CountPromptTokens) {
    this.settings = settings;
    this.#random = random;
    this.#countTokens = countTokens;
    this.#scheduler = new Scheduler(settings.maxRunning, settings.kvCacheTokens);
    // Idle connections stay open: one closed here while Envoy sends on it would be a request that only Envoy counts.
    this.#server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  get port(): number {
    return this.#port;
  }

  async start(): Promise<void> {
    this.#port = await listen(this.#server, this.settings.port, `the demo's backend "${this.settings.name}"`);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#reopening);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  get condition(): Condition {
    return this.#board.at(monotonicMs());
  }

  beginFault(fault: Fault): void {
    this.#reopen();
    this.#board.begin(fault);
  }

  /** @returns the lag until the backend serves again, in ms */
  endFault(): number {
    const lagMs = this.#board.end(monotonicMs());
    this.#refuseWhileRestarting();
    return lagMs;
  }

  #refuseWhileRestarting(): void {
    const { condition } = this;
    if (condition.state !== "recovering" || !condition.refuses) return;
    stopListening(this.#server);
    this.#reopening = setTimeout(() => this.#reopen(), condition.untilMs - monotonicMs());
  }

  /** A prompt too long for a warming engine takes down all that runs. */
  #relapse(): void {
    this.#board.relapse(monotonicMs());
    this.#refuseWhileRestarting();
    for (const [response, arrival] of this.#live) this.#cut(arrival, response);
  }

  #reopen(): void {
    clearTimeout(this.#reopening);
    if (!this.#server.listening) this.#server.listen(this.#port, "127.0.0.1");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    if (request.method === "POST" && (path === "/v1/chat/completions" || path === "/v1/completions")) {
      return this.#complete(path, request, response);
    }
    if (path === "/health") response.writeHead(200).end();
    else if (path === "/metrics")
      response.writeHead(200, { "content-type": "text/plain" }).end(this.#metricsText());
    else if (path === "/v1/models") {
      const model = { id: this.settings.model, object: "model", owned_by: "llm-breaker-demo" };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ object: "list", data: [model] }));
    } else {
      request.resume();
      const { status, body } = notFound(path);
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    }
  }

  async #complete(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrival = this.arrivals.open(this.settings.name, path, monotonicMs(), Date.now());
    this.seen.record(request.rawHeaders);
    const left = new AbortController();
    this.#live.set(response, arrival);
    response.on("close", () => {
      this.#live.delete(response);
      this.arrivals.close(arrival, "clientLeft", 499, monotonicMs());
      left.abort();
    });
    const fail = ({ status, body }: EngineError): void => {
      this.arrivals.close(arrival, "error", status, monotonicMs());
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    };

    const body = await readJson(request);
    if (body === undefined) return fail(badRequest("The body is no JSON object of at most 32 MiB."));
    arrival.user = typeof body.user === "string" ? body.user : "";
    arrival.streamed = body.stream === true;
    arrival.maxTokens = askedTokens(body);
    arrival.probe = isProbe(body);
    if (arrival.probe) this.arrivals.probes++;
    const counted = this.#countTokens(body).then((tokens) => {
      arrival.promptTokens = tokens;
    });

    const { key } = this.settings;
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) return fail(wrongKey());
    const condition = this.condition;
    if (condition.state === "recovering") {
      return condition.refuses ? this.#cut(arrival, response) : fail(engineDead());
    }
    const fault = faultOf(condition);
    switch (fault?.kind) {
      case "cudaOutOfMemory":
        return fail(cudaOutOfMemory(between(this.#random, 128, 4096)));
      case "reset":
        return this.#cut(arrival, response);
      case "status":
        this.arrivals.close(arrival, "error", fault.status, monotonicMs());
        response.writeHead(fault.status, fault.headers).end(fault.body);
        return;
      case "hang":
        return; // The arrival is closed when the client leaves.
    }

    await counted;
    const warmUp = condition.state === "warming" ? condition.warmUp : undefined;
    if (warmUp && arrival.promptTokens > warmUp.deadlyPromptTokens) return this.#relapse();
    const turn: Turn = {
      arrival,
      body,
      chat: path === "/v1/chat/completions",
      model: this.settings.model,
      pace: this.settings.pace,
      fault,
      random: this.#random,
      metrics: this.#metrics,
      response,
      signal: left.signal,
      settle: (outcome, status) => this.arrivals.close(arrival, outcome, status, monotonicMs()),
    };
    await this.#scheduler.run(arrival.promptTokens + arrival.maxTokens, () =>
      arrival.streamed ? answerStreamed(turn) : answerWhole(turn),
    );
  }

  #cut(arrival: Arrival, response: ServerResponse): void {
    this.arrivals.close(arrival, "cut", 0, monotonicMs());
    response.socket?.resetAndDestroy();
  }

  #metricsText(): string {
    const { condition } = this;
    const outOfMemory = condition.state === "faulty" && condition.fault.kind === "cudaOutOfMemory";
    const hung = condition.state === "faulty" && condition.fault.kind === "hang";
    const served = this.#scheduler.running + this.#scheduler.waiting;
    const gauges = {
      running: this.#scheduler.running,
      waiting: this.#scheduler.waiting + (hung ? this.arrivals.running - served : 0),
      kvCacheUsage: outOfMemory ? 0.99 : this.#scheduler.kvCacheUsage,
    };
    return this.#metrics.render(this.settings.model, gauges, this.page);
  }
}

function faultOf(condition: Condition): Fault | undefined {
  if (condition.state === "faulty") return condition.fault;
  return condition.state === "warming" ? { kind: "slow", factor: condition.warmUp.factor } : undefined;
}

/** The body as a JSON object; undefined when it is none or too long. */
async function readJson(request: IncomingMessage): Promise<ChatBody | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length <= BODY_LIMIT_BYTES) parts.push(part);
  }
  if (length > BODY_LIMIT_BYTES) return undefined;
  try {
    const parsed: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as ChatBody)
      : undefined;
  } catch {
    return undefined;
  }
}

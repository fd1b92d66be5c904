// A model server as a process of its own, which can be killed and stopped: `node backend-main.js`, its settings in the environment.
// What arrives is written down at once, so that a kill loses nothing of it.
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../demo/clock.js";
import { between, jittered, seededRandom } from "../../demo/random.js";
import { isProbe } from "../e2e/support/rig.js";
import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import { type BackendProcessSettings, SETTINGS_VARIABLE } from "./backend-settings.js";
import { SENT_AT_HEADER } from "./gateway-config.js";

interface Asked {
  readonly model?: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly user?: string;
}

const firstTokenMs = 60;
const tokenGapMs = 12;
const jitter = 0.25;
const answerTokens = [12, 60] as const;

const settings = JSON.parse(process.env[SETTINGS_VARIABLE] ?? "") as BackendProcessSettings;
const random = seededRandom(settings.port);
let arrived = 0;

// Idle connections stay open: one closed here while Envoy sends on it would be a fault of nobody's kill.
const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  complete(request, response).catch(() => response.destroy());
});
server.listen(settings.port, "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));

async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") return void response.end();
  const id = `${process.pid}-${arrived++}`;
  const atMs = monotonicMs();
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts);
  const asked = JSON.parse(body.toString("utf8")) as Asked;
  const from = request.socket.remoteAddress ?? "";
  const sentMs = sentAt(request) ?? atMs;
  const isStreamed = asked.stream === true;
  write({ id, user: asked.user ?? "", isProbe: isProbe(body), isStreamed, from, sentMs, atMs });
  response.on("close", () => write({ id, endMs: monotonicMs(), isWhole: response.writableFinished }));
  await (isStreamed ? streamed(asked, response) : whole(asked, response));
}

/** On the monotonic clock. */
function sentAt({ headers }: IncomingMessage): number | undefined {
  const wallSeconds = Number(headers[SENT_AT_HEADER] ?? Number.NaN);
  if (Number.isNaN(wallSeconds)) return undefined;
  return wallSeconds * 1_000 - Date.now() + monotonicMs();
}

/** A request for so many tokens and for no less gets as many, so that one can be made to last. */
function tokensFor({ max_tokens: most }: Asked): number {
  const drawn = between(random, ...answerTokens);
  return most === undefined || most > answerTokens[1] ? (most ?? drawn) : Math.min(most, drawn);
}

async function whole(asked: Asked, response: ServerResponse): Promise<void> {
  const count = tokensFor(asked);
  await pause(firstTokenMs + count * tokenGapMs);
  const body = completionJson(asked.model ?? "", "word ".repeat(count));
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

async function streamed(asked: Asked, response: ServerResponse): Promise<void> {
  const model = asked.model ?? "";
  await pause(firstTokenMs);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write(roleEvent(model));
  for (let left = tokensFor(asked); left > 0 && !response.destroyed; left--) {
    response.write(tokenEvent(model, "word "));
    await pause(tokenGapMs);
  }
  response.end(finishEvent(model) + doneEvent);
}

async function pause(meanMs: number): Promise<void> {
  await sleep(jittered(random, meanMs, jitter));
}

function write(line: object): void {
  appendFileSync(settings.arrivalsFile, `${JSON.stringify(line)}\n`);
}

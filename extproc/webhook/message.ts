import { createHmac } from "node:crypto";
import type { Fact } from "./facts.js";
import type { WebhookSettings } from "./settings.js";

/** More gateways are counted, not named. */
const MOST_NAMED = 64;
const MOST_NAMED_IN_TEXT = 5;

/** A fact on its way; the receiver may get it twice, and tells by `id`. */
export interface Message {
  readonly id: string;
  /** When it became a fact. Milliseconds since 1970. */
  readonly atMs: number;
  /** Who sends it. */
  readonly service: string;
  readonly fact: Fact;
}

/** A message as its receiver takes it. */
export function writeMessage(message: Message, template: WebhookSettings["template"]): string {
  const { id, atMs, service, fact } = message;
  if (template === "slack") return JSON.stringify({ text: escapeSlack(describe(fact)) });
  const { event, status, backend, away, lastedMs, ...rest } = fact;
  return JSON.stringify({
    id,
    dedupKey: `llm-breaker/${backend}/${event}`,
    event,
    status,
    backend,
    text: describe(fact),
    at: new Date(atMs).toISOString(),
    since: new Date(atMs - lastedMs).toISOString(),
    lastedMs: Math.round(lastedMs),
    ...rest,
    away: away.slice(0, MOST_NAMED),
    service,
  });
}

/** As standardwebhooks.com has it. */
export function sign(secret: Buffer, id: string, seconds: number, body: string): string {
  return `v1,${createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64")}`;
}

/** One line for people. */
export function describe(fact: Fact): string {
  if (fact.status === "resolved") return describeEnd(fact);
  const { event, backend, openings } = fact;
  const where = describeAway(fact);
  if (event === "flapping")
    return `${backend} is flapping: ${openings} openings within ${span(fact.lastedMs)}${describeWhy(fact)}`;
  if (event === "longOpen")
    return `${backend} has been away for ${span(fact.lastedMs)}${where}${describeWhy(fact)}`;
  return `${backend} opened${where}${describeWhy(fact)}`;
}

function describeEnd({ event, backend, lastedMs, ending }: Fact): string {
  if (event === "flapping") return `${backend} is flapping no more, after ${span(lastedMs)}`;
  if (ending === "operator") return `${backend}: an operator has taken over, after ${span(lastedMs)}`;
  if (ending === "gone") return `${backend}: no gateway reports it any more, after ${span(lastedMs)}`;
  return `${backend} is Closed again, after ${span(lastedMs)}`;
}

function describeAway({ away, gateways }: Fact): string {
  if (away.length === 0) return "";
  const names = [...new Set(away.map(({ node, process }) => node || process))];
  const more = names.length > MOST_NAMED_IN_TEXT ? ", …" : "";
  return ` on ${away.length} of ${gateways} gateways (${names.slice(0, MOST_NAMED_IN_TEXT).join(", ")}${more})`;
}

function describeWhy({ cause, figures }: Fact): string {
  if (cause === undefined || figures === undefined) return "";
  const { calls, failureRate, consecutiveFailures, openings, waitMs } = figures;
  const streak = consecutiveFailures > 0 ? `, ${consecutiveFailures} in a row` : "";
  const wait = waitMs > 0 ? `; opening ${openings} in a row, next probe in ${span(waitMs)}` : "";
  return `: ${cause}, ${failureRate} % of ${calls} calls failed${streak}${wait}`;
}

/** Two units at most: `1 h 5 min`. */
function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, "min", seconds % 60, "s");
  return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

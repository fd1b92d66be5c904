import { answerNotFound, answerText, type Endpoint, type Endpoints } from "./http.js";

/** What /healthz tells, asked anew each time. */
export interface HealthFacts {
  isServing(): boolean;
  /** True while the file holds a configuration that is not in use, since it is wrong. */
  isConfigStale(): boolean;
  /** Backends whose engines have a long queue. */
  longQueues(): readonly string[];
}

/** The gate reads no more of the header. */
const MAX_DEGRADE_BYTES = 512;

/** GET /healthz: 200 `ok` while serving, 503 `draining` afterwards. */
export function healthEndpoint(facts: HealthFacts): Endpoints {
  const healthz: Endpoint = (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") answerNotFound(request, response);
    else if (facts.isServing()) answerText(response, 200, "ok", headersOf(facts));
    else answerText(response, 503, "draining", headersOf(facts));
  };
  return new Map([["/healthz", healthz]]);
}

function headersOf(facts: HealthFacts): Record<string, string> {
  const headers: Record<string, string> = {};
  if (facts.isConfigStale()) headers["x-llm-breaker-config"] = "stale";
  const degrade = joinWithin(facts.longQueues(), MAX_DEGRADE_BYTES);
  if (degrade !== "") headers["x-llm-breaker-degrade"] = degrade;
  return headers;
}

/** Whole names only: half a name would be another backend's. */
function joinWithin(names: readonly string[], maxBytes: number): string {
  let text = "";
  for (const name of names) {
    const longer = text === "" ? name : `${text}, ${name}`;
    if (Buffer.byteLength(longer) > maxBytes) break;
    text = longer;
  }
  return text;
}

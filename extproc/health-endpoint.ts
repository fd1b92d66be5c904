import { answerNotFound, answerText, type Endpoint, type Endpoints } from "./http.js";

/** What /healthz tells, asked anew each time. */
export interface HealthFacts {
  isServing(): boolean;
  /** True while the file holds a configuration that is not in use, since it is wrong. */
  isConfigStale(): boolean;
}

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
  return facts.isConfigStale() ? { "x-llm-breaker-config": "stale" } : {};
}

import { completionJson } from "./completion.js";
import type { Mode } from "./upstream-mode.js";

/** A good answer in one piece of an engine that tells of its load. */
export function loadedAnswer(load: string, status = 200): Mode {
  const headers = { "content-type": "application/json", "endpoint-load-metrics": load };
  return { kind: "status", status, headers, body: completionJson("qwen3-32b", "Hello.") };
}

export function waiting(requests: number): Mode {
  return loadedAnswer(`TEXT named_metrics.num_requests_waiting=${requests.toFixed(1)}`);
}

import { answerText, type Endpoint, type Endpoints } from "./http.js";
import type { MetricsPage } from "./telemetry/metrics-page.js";

/** GET /metrics, for Prometheus. */
export function metricsEndpoint(page: MetricsPage): Endpoints {
  const metrics: Endpoint = async (request, response) => {
    if (request.method !== "GET")
      return answerText(response, 405, "only GET is answered here", { allow: "GET" });
    const text = await page.text();
    response.writeHead(200, { "content-type": page.contentType, "content-length": Buffer.byteLength(text) });
    response.end(text);
  };
  return new Map([["/metrics", metrics]]);
}

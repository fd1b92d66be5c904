/** How engines name the requests that wait, exactly; what is asked first counts when a page has several. */
const GAUGES = [
  "vllm:num_requests_waiting",
  "sglang:num_queue_reqs",
  "tgi_queue_size",
  "trtllm_num_requests_waiting",
  "lmdeploy:num_requests_waiting",
  "llamacpp:requests_deferred",
  "nv_inference_pending_request_count",
] as const;

/**
 * The requests that wait at an engine, out of its page in Prometheus' text format; label sets (models, engines,
 * ranks) are added up. Undefined when the page has none of the gauges, or one whose value is no number of requests:
 * unknown is never 0.
 */
export function readWaitingRequests(page: string): number | undefined {
  const sums = new Map<string, number>();
  for (const line of page.split("\n")) {
    const gauge = GAUGES.find((name) => line.startsWith(name) && /^[\s{]/.test(line.slice(name.length)));
    if (gauge !== undefined && countsOnce(gauge, line)) {
      sums.set(gauge, (sums.get(gauge) ?? 0) + valueIn(line.slice(gauge.length)));
    }
  }
  const sum = GAUGES.map((gauge) => sums.get(gauge)).find((value) => value !== undefined);
  return sum !== undefined && Number.isFinite(sum) ? sum : undefined;
}

/** Every tensor-parallel rank of SGLang tells the same queue. */
function countsOnce(gauge: string, line: string): boolean {
  return gauge !== "sglang:num_queue_reqs" || !/[{,]tp_rank="[1-9]/.test(line);
}

/** The value stands behind the labels, and a time may follow it. A label's value may hold anything, quotes escaped. */
function valueIn(rest: string): number {
  const match = /^(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?\s+([0-9.eE+-]+)(?:\s+-?\d+)?\s*$/.exec(rest);
  const value = match === null ? Number.NaN : Number(match[1]);
  return value >= 0 ? value : Number.NaN;
}

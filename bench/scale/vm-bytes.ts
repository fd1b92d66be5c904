import { readFileSync } from "node:fs";
import { join } from "node:path";
import { World } from "../../test/wasm/host/world.js";
import { neverOpens, policyWith } from "../../test/wasm/policy.js";
import { Worker } from "../../test/wasm/worker.js";

const firstToken = 'data: {"choices":[{"index":0,"delta":{"content":" w"},"finish_reason":null}]}\n\n';
const warmUpStreams = 16;
const pageBytes = 4096;

/**
 * Bytes of linear memory that a live stream holds in the VM, of gate and meter together: the pages in use with `count` streams past
 * their first token, and without them. By the compiled module in a simulated Envoy, so always the same.
 */
export function vmBytesPerStream(modules: string, count: number): number {
  const module = new WebAssembly.Module(readFileSync(join(modules, "llm-breaker.wasm")));
  const worker = new Worker(new World(module), policyWith(neverOpens));
  for (let at = 0; at < warmUpStreams; at++) openStream(worker);
  const before = usedBytes(worker);
  for (let at = 0; at < count; at++) openStream(worker);
  return (usedBytes(worker) - before) / count;
}

function openStream(worker: Worker): void {
  const scope = worker.newScope();
  const headers = worker.plainHeaders();
  worker.openGate(scope).requestHeaders(headers, true);
  const meter = worker.openMeter(scope, "gpu");
  meter.requestHeaders(headers, true);
  meter.responseHeaders(worker.headersOf({ ":status": "200", "content-type": "text/event-stream" }));
  meter.responseBody(firstToken);
}

/** In pages that hold anything. Memory's size is no measure: it doubles when it grows, and nobody has touched the rest. */
function usedBytes({ vm: { memory } }: Worker): number {
  const bytes = memory.bytes(0, memory.byteLength);
  const empty = Buffer.alloc(pageBytes);
  let used = 0;
  for (let at = 0; at < bytes.length; at += pageBytes) {
    if (!bytes.subarray(at, at + pageBytes).equals(empty)) used += pageBytes;
  }
  return used;
}

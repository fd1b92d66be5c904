// The shipped module under a mock host: whatever callers and backends send, in headers and bodies, whole requests long.
import assert from "node:assert/strict";
import type { Header } from "../../wasm/host/header-map.js";
import { World } from "../../wasm/host/world.js";
import { Worker } from "../../wasm/worker.js";
import { ANSWER_WORDS, ANSWERS, STREAMS } from "../corpus/answers.js";
import { BODIES, REQUEST_WORDS } from "../corpus/requests.js";
import { cutAnywhere } from "../support/pieces.js";
import { toBuffers } from "../support/plain-session.js";
import type { Random } from "../support/random.js";
import type { Target } from "../target.js";

const POLICY = JSON.stringify({
  backends: { gpu: {}, small: {} },
  breaker: { mode: "shadow" },
  chains: { chat: { tiers: ["gpu", "small"] } },
});
const NAMES = [
  "retry-after",
  "content-length",
  "x-llm-breaker-retry",
  "x-llm-breaker-tokens",
  "x-llm-breaker-probe",
  "authorization",
  "content-encoding",
  "endpoint-load-metrics",
  "x-ratelimit-reset",
  "x-envoy-upstream-service-time",
  "cookie",
];
const STATUSES = ["200", "200", "200", "429", "500", "503", "404", "", "x", "99999"];
const TYPES = ["text/event-stream", "application/json", "application/x-ndjson", ""];

export const wasmTraffic: Target = {
  name: "wasm-traffic",
  parsers: [
    "filter/gate/request-headers.ts",
    "filter/meter/response-headers.ts",
    "filter/meter/load.ts",
    "filter/meter/cluster.ts",
    "filter/breaker/retry-after.ts",
    "filter/gate/by-model.ts",
  ],
  seeds: toBuffers([...STREAMS, ...ANSWERS, ...BODIES]),
  words: [...ANSWER_WORDS, ...REQUEST_WORDS],
  open: () => {
    const world = new World();
    const worker = new Worker(world, POLICY);
    return {
      run: (bytes, random) => {
        const status = random.pick(STATUSES);
        const headers: Header[] = [
          [":status", status],
          ["content-type", random.pick(TYPES)],
          ...oddHeaders(bytes, random),
        ];
        const body = cutAnywhere(bytes, random);
        const cut = random.oneIn(5);
        const exchange = worker.send({
          ...(random.oneIn(2) && { body, headers: oddHeaders(bytes, random) }),
          answer: () => (random.oneIn(20) ? "reset" : { headers, body, cut }),
        });
        world.clock.advance(random.next(200));
        if (random.oneIn(16)) worker.flushCounters();
        if (worker.vm.logs.length > 200) worker.vm.logs.length = 0;
        assert.equal(worker.vm.liveContexts, 3, "a stream is left over");
        const { attempts, localReply } = exchange;
        return `${exchange.status},${attempts.length},${localReply?.status},${exchange.body.length === bytes.length}`;
      },
      memoryBytes: () => worker.vm.memory.byteLength,
    };
  },
};

/** Values are pieces of the case, as a header may hold them. */
function oddHeaders(bytes: Buffer, random: Random): Header[] {
  return Array.from({ length: random.next(4) }, (): Header => {
    const at = random.next(bytes.length + 1);
    const value = random.oneIn(3)
      ? String(2 ** random.next(70) - 1)
      : bytes.toString("latin1", at, at + random.next(60));
    return [random.pick(NAMES), value.replaceAll(/[\r\n\0]/g, "")];
  });
}

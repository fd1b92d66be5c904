import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { type Answer, send } from "../support/client.js";
import { doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import { waitFor } from "../support/wait-for.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf, connectionManager, protocolOf } from "./support/shipped-config.js";

// From its first token on a stream's bytes and their timing are the backend's: the same events, in turns, through the meter
// and past it, in one Envoy.

const rounds = 30;
const eventsARound = 12;
/** Loose: both ways share two busy cores with everything else. The figure to go by is that of `npm run bench`. */
const mostAddedMs = 0.5;

const responses = new Map<string, ServerResponse>();
const backend = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    responses.set(request.url ?? "", response);
  });
});
let rig: Rig;

before(async () => {
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  const { port } = backend.address() as AddressInfo;
  rig = await startRig({
    service: false,
    concurrency: 1,
    fixedPorts: [port],
    policy: neverOpen,
    patch: (config) => {
      const gpu = clusterOf(config, "gpu");
      const address = { socket_address: { address: "127.0.0.1", port_value: port } };
      const endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
      Object.assign(gpu, { load_assignment: { cluster_name: "gpu", endpoints } });
      const bare = { ...structuredClone(gpu), name: "bare" };
      Object.assign(bare, { load_assignment: { cluster_name: "bare", endpoints } });
      const { http_filters } = protocolOf(bare);
      http_filters.splice(0, http_filters.length - 1);
      config.static_resources.clusters.push(bare);
      const { routes } = connectionManager(config).route_config.virtual_hosts[0] ?? { routes: [] };
      routes.unshift({
        match: { prefix: "/bare/" },
        route: { cluster: "bare", timeout: "0s" },
      });
    },
  });
});

after(async () => {
  await rig?.stop();
  backend.closeAllConnections();
  backend.close();
});

/** One stream whose events the test writes itself. */
class Stream {
  /** What each read of the client's brought. */
  readonly parts: string[] = [];
  readonly latenciesMs: number[] = [];
  readonly answer: Promise<Answer>;
  #writtenMs = 0;
  #read: () => void = () => {};

  constructor(private readonly path: string) {
    const body = JSON.stringify({ model: "m", stream: true, messages: [] });
    const onData = (chunk: Buffer): void => {
      this.latenciesMs.push(performance.now() - this.#writtenMs);
      this.parts.push(chunk.toString());
      this.#read();
    };
    this.answer = send(rig.url + path, { body, onData });
  }

  async opened(): Promise<void> {
    await waitFor(() => responses.has(this.path), 5_000, `a stream at ${this.path}`);
  }

  /** Until the client has read something of it: no two events are under way at once, which Envoy would join by itself. */
  async write(event: string): Promise<void> {
    const read = new Promise<void>((resolve) => {
      this.#read = resolve;
    });
    this.#writtenMs = performance.now();
    responses.get(this.path)?.write(event);
    await Promise.race([read, this.answer]);
  }

  async end(): Promise<Answer> {
    responses.get(this.path)?.end();
    responses.delete(this.path);
    return await this.answer;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

test("tokens come as they were sent: each at once, in chunks of its own, to the byte", async (context) => {
  const first = { met: [] as number[], bare: [] as number[] };
  const later = { met: [] as number[], bare: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const met = new Stream("/v1/chat/completions");
    const bare = new Stream("/bare/v1/chat/completions");
    await Promise.all([met.opened(), bare.opened()]);
    // Who goes first would pay for waking Envoy up.
    const inTurn = async (event: string): Promise<void> => {
      for (const stream of round % 2 === 0 ? [met, bare] : [bare, met]) await stream.write(event);
    };
    const opening = roleEvent("m") + tokenEvent("m", "0");
    const events = Array.from({ length: eventsARound }, (_, at) => tokenEvent("m", ` ${round}.${at}`));
    const sent = [opening, ...events, finishEvent("m") + doneEvent];
    for (const event of sent) await inTurn(event);
    for (const stream of [met, bare]) {
      assert.ok((await stream.end()).complete);
      assert.deepEqual(stream.parts, sent, "changed, joined or split");
    }
    first.met.push(met.latenciesMs[0] ?? Number.NaN);
    first.bare.push(bare.latenciesMs[0] ?? Number.NaN);
    later.met.push(...met.latenciesMs.slice(1));
    later.bare.push(...bare.latenciesMs.slice(1));
  }
  const addedMs = [first, later].map(({ met, bare }) => median(met) - median(bare));
  const [firstMs = Number.NaN, laterMs = Number.NaN] = addedMs;
  context.diagnostic(
    `added at the median: ${firstMs.toFixed(3)} ms to a first token, ${laterMs.toFixed(3)} ms to each later one`,
  );
  assert.ok(laterMs <= mostAddedMs, `${laterMs} ms added to each event`);
  assert.ok(firstMs <= 2 * mostAddedMs, `${firstMs} ms added to the first token`);
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type ExtraBackend, withBackends } from "../e2e/support/extra-backends.js";
import { rawCall } from "../e2e/support/raw-call.js";
import { type Alias, CLOSED, HALF_OPEN, type Rig, startRig } from "../e2e/support/rig.js";
import {
  type ConnectionManager,
  clusterOf,
  connectionManager,
  protocolOf,
  type ShippedConfig,
} from "../e2e/support/shipped-config.js";
import { chat } from "../support/client.js";
import { CARRIERS, type Forged, MARKS, ORDERS } from "./support/forgeries.js";
import { H2Backend } from "./support/h2-backend.js";
import { askH2 } from "./support/h2-caller.js";
import { forEachOf } from "./support/service-doors.js";

// Whatever a caller says in the breaker's name, in Envoy's, or in that of what is inside of them: no state, tier, attempt, timeout or canary
// is his to choose. Envoy trusts its callers here, as in a mesh, and keeps trailers.

const AT_ONCE = 16;
const backends: Record<string, ExtraBackend> = {
  keyed: {},
  shut: { breaker: { mode: "forcedOpen" } },
  half: {
    breaker: {
      consecutiveFailuresThreshold: 1,
      waitDurationInOpenState: "200ms",
      canary: { size: "count", maxPromptTokens: 20, maxOutputTokens: 1024 },
      ramp: [{ percent: 100, maxConcurrent: 16, successes: 100 }],
    },
  },
};
/** Over 20 tokens in less than 8 bytes a token: it is counted, and is no canary. */
const words = "a b c d e f g h i j k l m n o p q r s t u";
const backend = new H2Backend();
let rig: Rig;
let cases = 0;

function speakH2(config: ShippedConfig, name: string): void {
  const cluster = clusterOf(config, name);
  protocolOf(cluster).explicit_http_config = { http2_protocol_options: {} };
  const address = { socket_address: { address: "127.0.0.1", port_value: backend.port } };
  const [real] = cluster.load_assignment.endpoints;
  if (real) real.lb_endpoints = [{ endpoint: { address } }];
}

/** A second listener, whose own filter behind the gate gives an order: that does work, so the test can see one that does. */
function addObeying(config: ShippedConfig): void {
  const obeying = structuredClone(
    config.static_resources.listeners[0],
  ) as (typeof config.static_resources.listeners)[0] & {
    name: string;
    address: object;
  };
  obeying.name = "obeying";
  obeying.address = { socket_address: { address: "127.0.0.1", port_value: 10002 } };
  const manager = obeying.filter_chains[0]?.filters[0]?.typed_config as ConnectionManager;
  const header = { key: "x-envoy-upstream-rq-per-try-timeout-ms", value: "10" };
  manager.http_filters.splice(-1, 0, {
    name: "envoy.filters.http.header_mutation",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
      mutations: { request_mutations: [{ append: { header, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" } }] },
    },
  });
  config.static_resources.listeners.push(obeying);
}

before(async () => {
  await backend.listen();
  const settings = withBackends(backends, {
    patch: (config) => {
      for (const name of ["gpu", "keyed", "shut", "half"]) speakH2(config, name);
      clusterOf(config, "keyed").metadata.filter_metadata["llm.breaker"].credentials = "own";
      Object.assign(connectionManager(config), {
        http_protocol_options: { enable_trailers: true },
        internal_address_config: { cidr_ranges: [{ address_prefix: "127.0.0.0", prefix_len: 8 }] },
        use_remote_address: true,
      });
      addObeying(config);
    },
  });
  rig = await startRig({ ...settings, service: true, fixedPorts: [backend.port], concurrency: 1 });
  backend.play = (stream) => {
    stream.respond({ ":status": 500 });
    stream.end();
  };
  await chat(`${rig.url}/half`);
  backend.play = new H2Backend().play;
  await rig.waitForState(HALF_OPEN, "half" as Alias);
  rig.reset();
  backend.arrivals.length = 0;
});

after(async () => {
  await rig?.stop();
  backend.stop();
});

interface Told {
  readonly what: string;
  readonly id: string;
  readonly bytes: string;
}

function requestOf(
  prefix: string,
  what: string,
  { lines = [], query = "", field = {}, trailers }: Forged,
): Told {
  const id = String(++cases);
  const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: words }], ...field });
  const [sized, sent] =
    trailers === undefined
      ? [`content-length: ${body.length}`, body]
      : [
          "transfer-encoding: chunked",
          `${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailers.join("\r\n")}\r\n\r\n`,
        ];
  const head = [
    `POST ${prefix}/v1/chat/completions${query && `?${query}`} HTTP/1.1`,
    ...["host: x", "content-type: application/json", `x-case: ${id}`, sized, ...lines, "connection: close"],
  ];
  return { what, id, bytes: `${head.join("\r\n")}\r\n\r\n${sent}` };
}

/** Of an answer's last head: one that was asked to wait got an interim one first. */
function answererIn(answer: string): string {
  const head = answer.split("\r\n\r\n").find((part) => /^HTTP\/1\.1 [2-5]/.test(part)) ?? "";
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();
  return `${head.slice(9, 12)} ${field("x-llm-breaker-backend")} ${field("x-llm-breaker-attempts")}`;
}

const everyForgery = (prefix: string) =>
  Object.entries(CARRIERS).flatMap(([carrier, carry]) =>
    MARKS.map(([name, value]) => requestOf(prefix, `${name} as ${carrier}`, carry(name, value))),
  );

async function assertAll(prefix: string, expected: string): Promise<void> {
  const told = everyForgery(prefix);
  const wrong: string[] = [];
  await forEachOf(told, AT_ONCE, async ({ what, bytes }) => {
    const came = answererIn(await rawCall(rig.url, bytes));
    if (came !== expected) wrong.push(`${what}: ${came}`);
  });
  assert.deepEqual(wrong, []);
}

/** Names that a backend was sent and should not have been. */
function orderedNames(names: readonly string[]): string[] {
  return names.filter(
    (name) => name in ORDERS || /^x-(llm-breaker|envoy-(?!external-address$|internal$))/i.test(name),
  );
}

describe("of a backend that is well", () => {
  test("an order that is ours does work, so that one of somebody's would be seen", async () => {
    const answer = await chat(rig.envoy.url(10002));
    assert.notEqual(answer.headers["x-llm-breaker-attempts"], "1");
    backend.arrivals.length = 0;
    rig.reset();
  });

  test("each request is answered by it, at the first attempt, and nothing of the order reaches it", async () => {
    const failures = await rig.counter("gpu", "outcome.failure");
    await assertAll("", "200 gpu 1");
    assert.equal(backend.arrivals.length, cases);
    assert.deepEqual(rig.hits, [0, 0, 0]);
    const leaked = backend.arrivals.flatMap(({ headers, trailers }) => [
      ...orderedNames(Object.keys(headers)),
      ...orderedNames(Object.keys(trailers)).map((name) => `trailer ${name}`),
    ]);
    assert.deepEqual([...new Set(leaked)], []);
    assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
    assert.equal(await rig.state(), CLOSED);
  });

  test("nor do headers, trailers or hosts of a caller over HTTP/2", async () => {
    backend.arrivals.length = 0;
    const body = JSON.stringify({ model: "qwen3-32b", messages: [] });
    const path = { ":path": "/v1/chat/completions", "content-type": "application/json" };
    const marks = MARKS.flatMap(([name, value]) => [
      { headers: { ...path, [name]: value }, trailers: undefined },
      { headers: path, trailers: { [name]: value } },
    ]);
    const hosts = ["public", "small:9102", "llm.breaker.stop", "127.0.0.1:1"].map((host) => {
      const headers = { ...path, ":authority": host, "x-forwarded-host": host, ":scheme": "https" };
      return { headers, trailers: undefined };
    });
    const wrong: string[] = [];
    await forEachOf([...marks, ...hosts], AT_ONCE, async ({ headers, trailers }) => {
      const answer = await askH2(rig.url, headers, body, trailers);
      const came = `${answer.status} ${answer.headers["x-llm-breaker-backend"]} ${answer.headers["x-llm-breaker-attempts"]}`;
      if (came !== "200 gpu 1") wrong.push(`${JSON.stringify({ headers, trailers })}: ${came}`);
    });
    assert.deepEqual(wrong, []);
    const names = backend.arrivals.flatMap(({ headers, trailers }) =>
      Object.keys({ ...headers, ...trailers }),
    );
    assert.deepEqual([...new Set(orderedNames(names))], []);
  });
});

test("a key in a trailer goes where the caller's key goes, and to no backend with one of its own", async () => {
  backend.arrivals.length = 0;
  const body = JSON.stringify({ model: "qwen3-32b", messages: [] });
  const trailers = {
    authorization: "Bearer callers",
    "x-api-key": "callers",
    "openai-project": "callers",
    "x-sum": "1",
  };
  for (const prefix of ["", "/keyed"])
    await askH2(rig.url, { ":path": `${prefix}/v1/chat/completions` }, body, trailers);
  const [plain, keyed] = backend.arrivals.map(({ trailers: came }) =>
    Object.fromEntries(Object.entries(came)),
  );
  assert.deepEqual(plain, trailers);
  assert.deepEqual(keyed, { "x-sum": "1" });
});

test("a backend that is open gets none of them", async () => {
  backend.arrivals.length = 0;
  await assertAll("/shut", "200 small 1");
  assert.equal(backend.arrivals.length, 0);
});

describe("of a backend that recovers", () => {
  test("none becomes a canary by it", async () => {
    backend.arrivals.length = 0;
    await assertAll("/half", "200 small 1");
    const callers = backend.arrivals.filter(({ headers }) => headers["x-case"] !== undefined);
    assert.deepEqual(
      callers.map(({ body }) => body),
      [],
    );
    assert.equal(await rig.state("half" as Alias), HALF_OPEN);
  });

  test("one that is small enough does, so that the others would be seen", async () => {
    const answer = await chat(`${rig.url}/half`);
    assert.equal(answer.headers["x-llm-breaker-backend"], "half");
  });
});

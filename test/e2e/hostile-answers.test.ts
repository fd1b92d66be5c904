import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { answererOf, BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { type Rig, startRig } from "./support/rig.js";
import { clusterOf, type Filter, protocolOf, type ShippedConfig } from "./support/shipped-config.js";

// Backends that say what no backend should: none of it delays the next tier, reaches it, or breaks the caller's parser.

const backends: Record<string, ExtraBackend> = {
  sick: {},
  patient: { chain: { sameTierRetries: 1 } },
  keyed: { chain: { tiers: ["keyed", "keyedToo", "small"] } },
  keyedToo: {},
};
/** Headers that are keys somewhere, and none that the breaker knows by name but the last two. */
const keyHeaders = ["x-portkey-api-key", "helicone-auth", "x-key", "openai-organization", "x-goog-api-key"];
let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 1,
    ...withBackends(backends, {
      patch: (config) => {
        giveKeys(config, "keyed", keyHeaders);
        giveKeys(config, "keyedToo", ["x-key-of-another", "x-goog-api-key"]);
      },
    }),
  });
});

beforeEach(() => rig.reset());

after(() => rig?.stop());

/** The cluster's own filter puts its key into each of these headers. */
function giveKeys(config: ShippedConfig, name: string, headers: readonly string[]): void {
  const cluster = clusterOf(config, name);
  cluster.metadata.filter_metadata["llm.breaker"].credentials = "own";
  const filter: Filter = {
    name: "envoy.filters.http.header_mutation",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
      mutations: {
        request_mutations: headers.map((key) => ({
          append: {
            header: { key, value: `KEY-OF-${name}` },
            append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
          },
        })),
      },
    },
  };
  protocolOf(cluster).http_filters.splice(-1, 0, filter);
}

describe("Retry-After of a 429", () => {
  const tooMany = (seconds: number) =>
    ({
      kind: "status",
      status: 429,
      headers: { "content-type": "application/json", "retry-after": String(seconds) },
      body: "{}",
    }) as const;

  test("is for the backend that said it: the next tier is asked at once", async () => {
    rig.gpu.mode = tooMany(3);
    const answer = await new BackendUnderTest(rig, "sick").chat();
    assert.equal(answererOf(answer), "small");
    assert.ok(answer.totalMs < 1_500, `after ${answer.totalMs} ms`);
  });

  test("is waited for before a second try of the same backend, and not before the next tier", async () => {
    rig.gpu.mode = tooMany(1);
    const answer = await new BackendUnderTest(rig, "patient").chat();
    assert.equal(answererOf(answer), "small");
    assert.deepEqual(rig.hits, [2, 1, 0]);
    const [first = 0, second = 0] = rig.gpu.arrivals.map(({ atMs }) => atMs);
    const next = rig.small.arrivals[0]?.atMs ?? 0;
    assert.ok(second - first >= 950, `the same backend after ${second - first} ms`);
    assert.ok(next - second < 700, `the next tier after ${next - second} ms`);
  });
});

describe("a status that is none", () => {
  const ended = "content-length: 0\r\n\r\n";
  const odd = "content-length: 3\r\n\r\nodd";
  const cases: Readonly<Record<string, readonly [rest: string, told: string]>> = {
    "099": [ended, "cut"],
    "150": [ended, "cut"],
    "199": [ended, "cut"],
    "600": [odd, "status"],
    "602": [odd, "status"],
    "999": [odd, "status"],
  };
  for (const [status, [rest, told]] of Object.entries(cases)) {
    test(`${status} is a failure, told as ${told}, and the next tier answers`, async () => {
      rig.gpu.mode = { kind: "raw", writes: [`HTTP/1.1 ${status} Odd\r\n${rest}`] };
      const backend = new BackendUnderTest(rig, "sick");
      const answer = await backend.chat({ timeoutMs: 5_000 });
      assert.deepEqual([answer.status, answererOf(answer), answer.complete], [200, "small", true]);
      assert.equal(answer.headers["x-llm-breaker-tried"], `sick=${told}`);
      assert.deepEqual(rig.hits, [1, 1, 0]);
    });
  }

  test("is filed as a failure, each", async () => {
    await new BackendUnderTest(rig, "sick").waitForCounter("outcome.failure", Object.keys(cases).length);
  });
});

describe("the key of a tier with credentials of its own", () => {
  /** Headers of the last request to `small`, after the tiers with keys have failed. */
  async function reachesSmall(headers: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    rig.gpu.mode = { kind: "status", status: 500 };
    assert.equal(answererOf(await new BackendUnderTest(rig, "keyed").chat({ headers })), "small");
    const [first, second] = rig.gpu.arrivals;
    for (const name of keyHeaders) assert.equal(first?.headers[name], "KEY-OF-keyed", name);
    assert.equal(second?.headers["x-key-of-another"], "KEY-OF-keyedToo");
    assert.ok(!String(second?.rawHeaders).includes("KEY-OF-keyed,"), `the second has ${second?.rawHeaders}`);
    return { ...rig.small.arrivals[0]?.headers };
  }

  test("reaches no later tier, whatever header carries it", async () => {
    const headers = await reachesSmall({});
    assert.deepEqual(
      Object.entries(headers).filter(([, value]) => value.includes("KEY-OF-")),
      [],
    );
  });

  test("leaves what the caller himself sent, as he sent it", async () => {
    const own = {
      authorization: "Bearer callers",
      "openai-organization": "callers-org",
      "openai-project": "callers-project",
      "x-goog-api-key": "callers-goog",
      "x-portkey-trace-id": "callers-trace",
    };
    const headers = await reachesSmall(own);
    for (const [name, value] of Object.entries(own)) assert.equal(headers[name], value, name);
    assert.ok(!Object.values(headers).join().includes("KEY-OF-"));
  });

  test("reaches no later tier in a header that the caller sent too, which is as he sent it", async () => {
    const own = { "x-portkey-api-key": "callers", "x-key": "callers" };
    const headers = await reachesSmall(own);
    assert.ok(!Object.values(headers).join().includes("KEY-OF-"), JSON.stringify(headers));
    for (const [name, value] of Object.entries(own)) assert.equal(headers[name], value, name);
  });
});

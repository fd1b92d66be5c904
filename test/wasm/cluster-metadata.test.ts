import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import fc from "fast-check";
import { AttemptedRequest } from "./attempt.js";
import { HeaderMap } from "./host/header-map.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { Worker } from "./worker.js";

type Keys = Readonly<Record<string, string>>;

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policyWith(neverOpens));
});

/** The path that a backend with these keys is asked at. */
function pathOf(callers: string, keys: Keys): string | undefined {
  const request = new AttemptedRequest(worker, "{}", { ":path": callers });
  request.start({ backend: "gpu", ...keys }).endUpstream();
  request.end();
  return request.headers.get(":path");
}

const text = (alphabet: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), maxLength });
const path = fc
  .tuple(fc.constantFrom("/v1", "/v1/", "/", "/v2/", "/v1beta/", ""), text("abc/%2.?=&v1", 60))
  .map(([start, end]) => `${start}${end}`)
  .filter((whole) => whole.length > 0);
const keys = fc.record(
  {
    path: text("/ab?=", 20),
    pathPrefix: text("/ab", 20),
    query: text("?ab=&", 20),
    credentials: fc.constantFrom("own", "callers"),
  },
  { requiredKeys: [] },
);

/** The same rule, said by other means. */
function expected(callers: string, { path: whole, pathPrefix, query, credentials }: Keys): string {
  const [callersPath = "", callersQuery] = split(callers);
  const [ownPath, ownQuery] = whole ? split(whole) : [undefined, undefined];
  const prefix = pathPrefix?.replace(/\/$/, "");
  const prefixed = prefix === undefined ? callersPath : callersPath.replace(/^\/v1(?=\/|$)/, () => prefix);
  const kept = whole ? ownQuery : credentials === "own" ? undefined : callersQuery;
  const asked = query === undefined ? kept : query.startsWith("?") ? query.slice(1) : query;
  const end = asked === undefined || (query !== undefined && asked === "") ? "" : `?${asked}`;
  const isComposed = query !== undefined || (!whole && (pathPrefix !== undefined || credentials === "own"));
  const start = ownPath ?? prefixed;
  return `${start === "" && isComposed ? "/" : start}${end}`;
}

function split(target: string): [path: string, query: string | undefined] {
  const at = target.indexOf("?");
  return at < 0 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)];
}

describe("the path a cluster's metadata ask for", () => {
  test("is put together by the documented rule, whatever the caller's is", () => {
    fc.assert(
      fc.property(path, keys, (callers, given) =>
        assert.equal(pathOf(callers, given), expected(callers, given)),
      ),
      {
        numRuns: 2_000,
      },
    );
  });

  test("never holds the caller's query where the backend has credentials of its own", () => {
    fc.assert(
      fc.property(path, keys, (callers, given) => {
        const seen = pathOf(`${callers}?key=SECRET`, { ...given, credentials: "own" });
        assert.doesNotMatch(String(seen), /SECRET/);
      }),
      { numRuns: 500 },
    );
  });

  test("is put together from one of 60 kB too", () => {
    const long = `/v1/${"a".repeat(60_000)}`;
    assert.equal(
      pathOf(`${long}?key=SECRET`, { credentials: "own", pathPrefix: "/p" }),
      `/p/${"a".repeat(60_000)}`,
    );
  });
});

describe("a key that nobody knows", () => {
  const everyKey: Keys = {
    credentials: "own",
    host: "h",
    path: "/p",
    pathPrefix: "/p",
    query: "",
    model: "m",
    maxOutputTokens: "1",
    outputTokensField: "max_tokens",
    remove: "a",
    rename: "a=b",
    includeUsage: "true",
    answerModel: "caller",
    dialect: "anthropic",
    degradedMaxOutputTokens: "1",
    degradedRemove: "a",
    loadMetrics: "TEXT",
  };
  const told = () =>
    worker.vm.logs.map(({ text }) => text).filter((line) => line.includes("cluster metadata of backend"));

  test("is told of by its name, once", () => {
    for (let request = 0; request < 3; request++) pathOf("/v1/x", { credential: "own" });
    assert.equal(told().length, 1);
    assert.match(String(told()[0]), /backend gpu: credential is unknown/);
  });

  test("is told of when it begins like one that is known, and so is another value of a known one", () => {
    for (const odd of [
      { degradedMaxTokens: "5" },
      { credentials: "owned" },
      { loadMetrics: "BIN" },
    ] as Keys[]) {
      worker = new Worker(new World(), policyWith(neverOpens));
      pathOf("/v1/x", odd);
      assert.match(String(told()[0]), new RegExp(`backend gpu: ${Object.keys(odd)[0]} is unknown`));
    }
  });

  test("is none of those in the documentation", () => {
    pathOf("/v1/x", everyKey);
    assert.deepEqual(told(), []);
  });
});

describe("an answer of a backend of another dialect", () => {
  const translated = { backend: "gpu", dialect: "anthropic" };

  function answered(headers: Keys, callersPath = "/v1/chat/completions"): HeaderMap {
    const request = new AttemptedRequest(worker, "{}", { ":path": callersPath });
    const meter = request.start(translated);
    const answer = new HeaderMap({ ":status": "200", "content-type": "application/json", ...headers });
    meter.responseHeaders(answer);
    meter.responseBody('{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}', true);
    meter.endUpstream();
    request.end();
    return answer;
  }

  test("passes when the service has translated it, without the service's mark", () => {
    const answer = answered({ "x-llm-breaker-adapted": "1" });
    assert.equal(answer.get("x-llm-breaker-retry"), undefined);
    assert.equal(answer.get("x-llm-breaker-adapted"), undefined);
  });

  test("is the next tier's turn when nobody has", () => {
    assert.equal(answered({}).get("x-llm-breaker-retry"), "1");
  });

  test("needs no translation where the caller speaks the dialect himself", () => {
    assert.equal(answered({}, "/v1/messages").get("x-llm-breaker-retry"), undefined);
  });

  for (const [end, isWhole] of [
    ["data: [DONE]\n\n", true],
    ["", false],
    ['event: message_stop\ndata: {"type":"message_stop"}\n\n', false],
  ] as const) {
    test(`a stream that ends by ${JSON.stringify(end)} is ${isWhole ? "whole" : "cut"}`, () => {
      const request = new AttemptedRequest(worker, "{}");
      const meter = request.start(translated);
      meter.responseHeaders(
        new HeaderMap({
          ":status": "200",
          "content-type": "text/event-stream",
          "x-llm-breaker-adapted": "1",
        }),
      );
      meter.responseBody(
        'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n',
      );
      meter.responseBody(end, true);
      assert.equal(meter.context.closed.length, isWhole ? 0 : 1);
      meter.endUpstream();
      request.end();
    });
  }
});

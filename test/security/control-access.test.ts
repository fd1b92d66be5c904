import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { rawCall } from "../e2e/support/raw-call.js";
import { encodeRequest, report } from "../extproc/support/sync-messages.js";
import { send } from "../support/client.js";
import { apiRoutes, disguises } from "./support/api-routes.js";
import { bytesOf, CONTROL_TOKEN, Doors, forEachOf, type Knock, SYNC_TOKEN } from "./support/service-doors.js";

// The service's two HTTP doors, each as a process with tokens: whoever has none, or nearly the right one, gets and does nothing, by
// whatever route, method and spelling. Routes are those of docs/openapi.json.

const AT_ONCE = 16;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "get"];
const routes = apiRoutes();
const json = "content-type: application/json";
const basic = Buffer.from(`ada:${CONTROL_TOKEN}`).toString("base64");
/** Headers that some proxy, or some framework, takes for the request's own line or source. */
const shifts = [
  "x-http-method-override: GET",
  "x-method-override: GET",
  "x-original-url: /",
  "x-rewrite-url: /",
  "x-forwarded-for: 127.0.0.1",
  "x-forwarded-host: localhost",
  "x-forwarded-uri: /",
  "x-real-ip: 127.0.0.1",
  "sec-fetch-mode: navigate",
];

/** Everything that is no credential, though it looks like one. */
function lies(token: string): string[][] {
  const last = token.at(-1) === "x" ? "y" : "x";
  return [
    [],
    ["authorization:"],
    ["authorization: Bearer"],
    ["authorization: Bearer undefined"],
    [`authorization: Bearer ${token.slice(0, -1)}${last}`],
    [`authorization: Bearer ${last}${token.slice(1)}`],
    [`authorization: Bearer ${token.slice(0, -1)}`],
    [`authorization: Bearer ${token}${last}`],
    [`authorization: Bearer ${token}, x`],
    [`authorization: Bearer x ${token}`],
    [`authorization: Bearer ada:${token}`],
    [`authorization: Bearer ${swapCase(token)}`],
    [`authorization: Bearer "${token}"`],
    [`authorization: Bearer\xa0${token}`],
    [`authorization: Basic ${basic}`],
    [`authorization: Token ${token}`],
    [`authorization: ${token}`],
    [`authorization: Bearer ${"x".repeat(5_000)}`],
    [`authorization: Bearer wrong-wrong-wrong-wrong`, `authorization: Bearer ${token}`],
    [`proxy-authorization: Bearer ${token}`],
    [`x-authorization: Bearer ${token}`],
    [`x-api-key: ${token}`],
    [`cookie: authorization=Bearer ${token}; token=${token}; access_token=${token}`],
    ...shifts.map((shift) => [shift]),
  ];
}

function swapCase(text: string): string {
  return [...text]
    .map((each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase()))
    .join("");
}

let locked: Doors;

function reportOf(process: string, node: string, sequence = 1): Buffer {
  const head = {
    process,
    node,
    policy: "demo",
    policyHash: "00000000000000ff",
    sequence,
    asksRestore: false,
  };
  return encodeRequest({ ...head, chains: [], backends: [report("gpu")] });
}

let sequence = 0;

/** The gateway says how it stands: it is heard for three seconds. */
async function syncAs(http: string, token: string): Promise<void> {
  const headers = { "content-type": "application/x-protobuf", authorization: `Bearer ${token}` };
  const body = reportOf("00000000000000a1", "the-true-gateway", ++sequence);
  assert.equal((await send(`${http}/v1/sync`, { method: "POST", body, headers })).status, 200);
}

before(async () => {
  locked = await Doors.open(true);
  await syncAs(locked.http, SYNC_TOKEN);
});

after(() => locked?.close());

const ask = (path: string, settings: object = {}) =>
  send(`${locked.admin}${path}`, { headers: { authorization: `Bearer ${CONTROL_TOKEN}` }, ...settings });

/** What came to somebody without the token: a refusal, and nothing of what the service knows. */
function assertRefused(answer: string, knock: Knock, status = /4\d\d/): void {
  const what = `${knock.method} ${knock.target} ${knock.headers?.join(" | ")}\n${answer.slice(0, 400)}`;
  assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status.source} `), what);
  assert.doesNotMatch(answer, /the-true-gateway|"state"|CLOSED|text\/event-stream/, what);
  assert.ok(!answer.includes(CONTROL_TOKEN) && !answer.includes(SYNC_TOKEN), what);
  assert.doesNotMatch(answer, /access-control-allow/i, what);
}

async function assertAllRefused(door: string, knocks: readonly Knock[], status?: RegExp): Promise<void> {
  const { host } = new URL(door);
  await forEachOf(knocks, AT_ONCE, async (knock) =>
    assertRefused(await rawCall(door, bytesOf(knock, host)), knock, status),
  );
}

async function assertNothingHappened(): Promise<void> {
  await syncAs(locked.http, SYNC_TOKEN);
  const backend = JSON.parse((await ask("/v1/backends/gpu")).text);
  assert.equal(backend.mode, "enforce");
  assert.deepEqual(JSON.parse((await ask("/v1/transitions")).text), { entries: [] });
  const { gateways } = JSON.parse((await ask("/v1/gateways")).text);
  assert.deepEqual(
    gateways.map(({ node }: { node: string }) => node).filter((node: string) => node !== "the-true-gateway"),
    [],
  );
}

describe("the control API", () => {
  test("answers each of its routes to who has the token, and the page to anybody", async () => {
    await syncAs(locked.http, SYNC_TOKEN);
    assert.ok(routes.length >= 14);
    for (const { method, path, body } of routes.filter(
      ({ method, path }) => method === "GET" && path !== "/v1/events",
    )) {
      const answer = await ask(path, body === undefined ? { method } : { method, body });
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`);
    }
    const page = await send(`${locked.admin}/`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /the-true-gateway/);
  });

  test("refuses each route, by every method, to what is no token of its own", async () => {
    const knocks = routes.flatMap((route) =>
      lies(CONTROL_TOKEN).map((headers, at): Knock => {
        const method = METHODS[at % METHODS.length] ?? "GET";
        return { ...route, target: route.path, method, headers: [json, ...headers], body: route.body ?? "" };
      }),
    );
    const asDescribed = routes.flatMap((route) =>
      lies(CONTROL_TOKEN).map((headers): Knock => {
        return {
          method: route.method,
          target: route.path,
          headers: [json, ...headers],
          body: route.body ?? "",
        };
      }),
    );
    const byMethod = routes.flatMap((route) =>
      METHODS.map(
        (method): Knock => ({ method, target: route.path, headers: [json], body: route.body ?? "" }),
      ),
    );
    // For the token alone: what a route would refuse of itself says nothing of who may ask it.
    await assertAllRefused(locked.admin, asDescribed, /401/);
    await assertAllRefused(locked.admin, [...byMethod, ...knocks]);
    await assertNothingHappened();
  });

  test("refuses each route however its path is written, and with the token in a query", async () => {
    const knocks = routes.flatMap(({ method, path, body = "" }) => {
      const queries = ["access_token", "token", "authorization", "api_key"].map(
        (name) =>
          `${path}?${name}=${encodeURIComponent(CONTROL_TOKEN)}&authorization=Bearer%20${encodeURIComponent(CONTROL_TOKEN)}`,
      );
      return [...disguises(path, locked.admin), ...queries]
        .filter((target) => !/^\/(?:[?#]|$)/.test(target))
        .map((target): Knock => ({ method, target, headers: [json], body }));
    });
    await assertAllRefused(locked.admin, knocks);
    await assertNothingHappened();
  });

  test("gives who asks for the page by a disguised path the page, or nothing", async () => {
    for (const target of ["/?/v1/backends", "/?x=/v1/backends/gpu/open", "/#/v1/backends"]) {
      const answer = await rawCall(
        locked.admin,
        bytesOf({ method: "GET", target }, new URL(locked.admin).host),
      );
      assert.match(answer, /^HTTP\/1\.1 (200 OK[\s\S]*<!doctype html>|4\d\d )/i, target);
      assert.doesNotMatch(answer, /the-true-gateway/);
    }
  });

  test("refuses a body that is too large, of no length, or coded, without reading it, with and without a token", async () => {
    const own = [json, `authorization: Bearer ${CONTROL_TOKEN}`];
    const posts = routes.filter(({ method }) => method === "POST");
    const knocks = posts.flatMap(({ method, path }): Knock[] =>
      [own, [json]].flatMap((headers) => [
        { method, target: path, headers: [...headers, "content-length: 1000000000"], body: "{" },
        { method, target: path, headers: [...headers, "transfer-encoding: chunked"], body: "1\r\n{\r\n" },
        {
          method,
          target: path,
          headers: [...headers, "content-length: 1048577"],
          body: "x".repeat(1_048_577),
        },
        { method, target: path, headers, body: "[".repeat(200_000) },
        { method, target: path, headers, body: '{"__proto__":{"for":"1h","why":"x"}}' },
        { method, target: path, headers: [...headers, "content-encoding: gzip"], body: "\x1f\x8b\x08" },
      ]),
    );
    const startedMs = performance.now();
    await assertAllRefused(locked.admin, knocks);
    assert.ok(performance.now() - startedMs < 10_000, "some body was waited for");
    await assertNothingHappened();
  });
});

describe("/v1/sync", () => {
  const sync: Knock = {
    method: "POST",
    target: "/v1/sync",
    body: reportOf("00000000000000ee", "a-stranger"),
  };
  const type = "content-type: application/x-protobuf";

  test("refuses what is no token of its own, by every method and path", async () => {
    const knocks = [
      ...lies(SYNC_TOKEN).map((headers): Knock => ({ ...sync, headers: [type, ...headers] })),
      { ...sync, headers: [type, `authorization: Bearer ${CONTROL_TOKEN}`] },
      ...METHODS.map((method): Knock => ({ ...sync, method, headers: [type] })),
      ...disguises("/v1/sync", locked.http)
        .filter((target) => !/^\/[?#]/.test(target))
        .map((target): Knock => ({ ...sync, target, headers: [type] })),
      { ...sync, target: `/v1/sync?token=${SYNC_TOKEN}`, headers: [type] },
      { ...sync, headers: [type, "content-length: 1000000000"] },
    ];
    await assertAllRefused(locked.http, knocks);
    await assertNothingHappened();
  });

  test("is no door to the control API: its token is none there", async () => {
    const headers = [json, `authorization: Bearer ${SYNC_TOKEN}`];
    await assertAllRefused(locked.admin, [{ method: "GET", target: "/v1/backends", headers }]);
  });
});

describe("without a token, on loopback", () => {
  let open: Doors;
  before(async () => {
    open = await Doors.open(false);
  });
  after(() => open?.close());

  test("a page of somebody else's can't use any route: by a name of its own, from another origin or site", async () => {
    const strangers = [
      ["host: evil.example"],
      [`host: 127.0.0.1.evil.example:${new URL(open.admin).port}`],
      ["host: localhost.evil.example"],
      ["host: 2130706433"],
      ["host: evil.example@127.0.0.1"],
      ["origin: https://evil.example"],
      ["origin: null"],
      ["origin: http://127.0.0.1:1"],
      ["sec-fetch-site: cross-site"],
      ["sec-fetch-site: same-site", "sec-fetch-mode: navigate"],
    ];
    const knocks = routes.flatMap(({ method, path, body = "" }) =>
      strangers.map((headers): Knock => ({ method, target: path, headers: [json, ...headers], body })),
    );
    await assertAllRefused(open.admin, knocks);
    // What a form of another site's can send without asking first.
    const forms = routes
      .filter(({ method }) => method === "POST")
      .map(
        ({ path, body = "" }): Knock => ({
          method: "POST",
          target: path,
          headers: ["content-type: text/plain"],
          body,
        }),
      );
    await assertAllRefused(open.admin, forms);
    assert.equal((await send(`${open.admin}/v1/backends`)).status, 200);
  });
});

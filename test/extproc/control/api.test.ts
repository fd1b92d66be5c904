import assert from "node:assert/strict";
import { test } from "node:test";
import type { BackendView, EntryView } from "../../../extproc/control/schemas.js";
import { checkAnswer } from "../support/api-checker.js";
import { ControlRig, NO_CALLS, report, transition } from "../support/control.js";

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is its own affair
  readonly body: any;
}

class Api {
  readonly url: string;

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isText = typeof body === "string";
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (path.startsWith("/v1/") && response.status !== 500)
      checkAnswer(method, path, response.status, answer);
    return { status: response.status, body: answer };
  }

  get = (path: string) => this.ask("GET", path);
  post = (path: string, body: unknown) => this.ask("POST", path, body);
}

async function withApi(
  check: (api: Api, rig: ControlRig) => Promise<void>,
  settings: unknown = {},
): Promise<void> {
  const rig = new ControlRig();
  try {
    await check(new Api(await rig.serve(settings)), rig);
  } finally {
    rig.close();
  }
}

const SECOND = { node: "envoy-2", process: "00000000000000a2" };

test("shows all backends over all gateways, those first that need somebody", async () => {
  await withApi(async (api, rig) => {
    assert.deepEqual((await api.get("/v1/backends")).body, { backends: [] });
    const window = { ...NO_CALLS, consecutiveFailures: 2, calls: 30, failures: 6, weightedFailures: 450 };
    rig.sync([
      report("fine"),
      report("mending", { state: "HALF_OPEN", stage: 1 }),
      report("gpu", { window }),
    ]);
    const open = { state: "OPEN", openings: 2, waitRemainingMs: 4000, cause: "FAILURE_RATE" } as const;
    rig.sync([report("gpu", { ...open, window: { ...window, calls: 10 } }), report("fine")], SECOND);
    const { backends } = (await api.get("/v1/backends")).body as { backends: BackendView[] };
    assert.deepEqual(
      backends.map(({ name, state }) => `${name} ${state}`),
      ["gpu OPEN", "mending HALF_OPEN", "fine CLOSED"],
    );
    const [gpu] = backends;
    assert.deepEqual([gpu?.openings, gpu?.waitRemainingMs, gpu?.cause], [2, 4000, "FAILURE_RATE"]);
    assert.deepEqual(
      [gpu?.window.calls, gpu?.window.weightedFailures, gpu?.window.failureRate],
      [40, 9, 22.5],
    );
    assert.deepEqual(
      gpu?.gateways.map(({ node, state }) => `${node} ${state}`),
      ["envoy-1 CLOSED", "envoy-2 OPEN"],
    );
    assert.deepEqual((await api.get("/v1/backends/gpu")).body, gpu);
    const { gateways } = (await api.get("/v1/gateways")).body;
    assert.deepEqual(gateways[1], { ...SECOND, policy: "demo", silentMs: 0, backends: 2 });
  });
});

test("names the backends that there are to who asks for another", async () => {
  await withApi(async (api, rig) => {
    rig.sync([report("gpu"), report("small")]);
    for (const answer of [
      await api.get("/v1/backends/gpuu"),
      await api.post("/v1/backends/gpuu/open", { why: "a" }),
      await api.post("/v1/backends/gpuu/reset", { why: "a" }),
    ]) {
      assert.equal(answer.status, 404);
      assert.equal(answer.body.error.message, "no gateway reports a backend gpuu; known: gpu, small");
    }
    assert.equal((await api.get("/v1/nothing").catch(() => ({ status: 404 }))).status, 404);
  });
});

for (const [action, mode] of [
  ["open", "forcedOpen"],
  ["close", "forcedClosed"],
  ["disable", "disabled"],
] as const) {
  test(`${action}: every gateway is told, with who, why and how long; the log and the history have it`, async () => {
    await withApi(async (api, rig) => {
      rig.sync([report("gpu")]);
      const ask = { for: "15m", why: "driver update", who: "ada" };
      const answer = await api.post(`/v1/backends/gpu/${action}`, ask);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, {
        backend: "gpu",
        mode,
        remainingMs: 900_000,
        who: "ada",
        why: "driver update",
      });
      const { directives, nextMs } = rig.sync([report("gpu")], SECOND);
      assert.equal(directives[0]?.override?.mode, mode);
      assert.equal(nextMs, 250, "and soon");
      assert.equal((await api.get("/v1/backends/gpu")).body.override.who, "ada");
      const [entry] = (await api.get("/v1/transitions")).body.entries;
      assert.deepEqual(
        [entry.kind, entry.action, entry.who, entry.forMs],
        ["operator", action, "ada", 900_000],
      );
      const line = rig.logged.find(({ msg }) => msg === "operator's override");
      assert.deepEqual(
        [line?.level, line?.backend, line?.who, line?.why, line?.forMs],
        [40, "gpu", "ada", "driver update", 900_000],
      );
    });
  });
}

test("a word is taken back once, and then the policy holds", async () => {
  await withApi(async (api, rig) => {
    rig.sync([report("gpu")]);
    const none = await api.ask("DELETE", "/v1/backends/gpu/override");
    assert.deepEqual(
      [none.status, none.body.error.message],
      [404, "no override holds on gpu; there are some on: none"],
    );
    await api.post("/v1/backends/gpu/open", { why: "a" });
    const held = await api.ask("DELETE", "/v1/backends/gpu/override?who=bob&why=done");
    assert.deepEqual([held.status, held.body.mode], [200, "forcedOpen"]);
    assert.equal(rig.sync([report("gpu")]).directives[0]?.override?.isWithdrawn, true);
    assert.equal((await api.get("/v1/backends/gpu")).body.override, undefined);
    const { entries } = (await api.get("/v1/transitions")).body;
    assert.deepEqual(
      [entries.at(-1).action, entries.at(-1).who, entries.at(-1).why],
      ["withdraw", "bob", "done"],
    );
    assert.equal((await api.ask("DELETE", "/v1/backends/gpu/override")).status, 404);
  });
});

test("a reset closes the backend on each gateway, once, and its transition tells who and why", async () => {
  await withApi(async (api, rig) => {
    const open = report("gpu", { state: "OPEN", generation: 7, track: 3 });
    rig.sync([open]);
    const answer = await api.post("/v1/backends/gpu/reset", { why: "fixed", who: "ada" });
    assert.deepEqual([answer.status, answer.body], [202, { backend: "gpu" }]);
    const { move } = rig.sync([open]).directives[0] ?? {};
    assert.deepEqual(
      [move?.to, move?.cause, move?.expectedGeneration, move?.isForAll],
      ["CLOSED", "OPERATOR_RESET", 7, true],
    );
    assert.ok((move?.version ?? 0) > open.track);
    assert.deepEqual(rig.sync([open]).directives[0]?.move, move, "the same until it is done");
    const done = { generation: 8, from: "OPEN", to: "CLOSED", cause: "OPERATOR_RESET" } as const;
    const closed = report("gpu", {
      generation: 8,
      track: move?.version ?? 0,
      transitions: [transition(done)],
    });
    assert.equal(rig.sync([closed]).directives[0]?.move, undefined);
    assert.ok(rig.sync([report("gpu", { generation: 2 })], SECOND).directives[0]?.move, "the others too");
    const { entries } = (await api.get("/v1/transitions?backend=gpu")).body as { entries: EntryView[] };
    const happened = entries.find(({ kind }) => kind === "transition");
    assert.deepEqual([happened?.who, happened?.why], ["ada", "fixed"]);
  });
});

test("lists transitions by page, backend and number", async () => {
  await withApi(async (api, rig) => {
    for (let generation = 2; generation <= 9; generation++) {
      const changes = { generation, transitions: [transition({ generation, ageMs: 100 })] };
      rig.sync([report("gpu", changes), report("small", changes)]);
    }
    const ids = async (query: string) =>
      ((await api.get(`/v1/transitions${query}`)).body.entries as EntryView[]).map(({ id }) => id);
    assert.equal((await ids("")).length, 16);
    assert.deepEqual(await ids("?limit=2"), [15, 16]);
    assert.deepEqual(await ids("?limit=2&after=3"), [4, 5]);
    assert.deepEqual(await ids("?backend=small&limit=3&after=9"), [10, 12, 14]);
    assert.deepEqual(await ids("?after=16"), []);
    assert.equal((await ids("?after=99")).length, 16, "ids of a service before this one are nobody's");
    const [entry] = (await api.get("/v1/transitions?limit=1")).body.entries;
    assert.deepEqual(
      [entry.from, entry.to, entry.weightedFailures, entry.at],
      ["CLOSED", "OPEN", 10, new Date(rig.wallMs - 100).toISOString()],
    );
  });
});

test("keeps the last thousand", async () => {
  await withApi(async (api, rig) => {
    for (let generation = 2; generation < 1102; generation++) {
      rig.sync([report("gpu", { generation, transitions: [transition({ generation })] })]);
    }
    const { entries } = (await api.get("/v1/transitions?limit=1000")).body as { entries: EntryView[] };
    assert.deepEqual([entries.length, entries[0]?.id, entries.at(-1)?.id], [1000, 101, 1100]);
  });
});

test("says which field is wrong, and how", async () => {
  await withApi(async (api, rig) => {
    rig.sync([report("gpu")]);
    const bad: [path: string, body: unknown, field: string | undefined, message: RegExp][] = [
      ["open", {}, "why", /^why must be a text$/],
      ["open", { why: "" }, "why", /^why must say something$/],
      ["open", { why: 7 }, "why", /^why must be a text$/],
      ["open", { why: "x".repeat(201) }, "why", /^why must be at most 200 characters$/],
      ["open", { why: "a\nb" }, "why", /control characters/],
      ["open", { why: "a\u001b[2J" }, "why", /control characters/],
      ["open", { why: "a", who: "\u0000" }, "who", /control characters/],
      ["open", { why: "a", who: "x".repeat(65) }, "who", /at most 64/],
      ["open", { why: "a", for: 5 }, "for", /^for must be a duration from "1s" to "7d", like "15m"$/],
      ["open", { why: "a", for: "1" }, "for", /must be a duration/],
      ["open", { why: "a", for: "0s" }, "for", /must be a duration/],
      ["open", { why: "a", for: "8d" }, "for", /must be a duration/],
      ["open", { why: "a", mode: "open" }, "mode", /^mode is unknown$/],
      ["open", "[1]", undefined, /./],
      ["open", '"a"', undefined, /./],
      ["open", '{"why":', undefined, /JSON/],
      ["reset", { why: "a", for: "1h" }, "for", /is unknown/],
    ];
    for (const [path, body, field, message] of bad) {
      const answer = await api.post(`/v1/backends/gpu/${path}`, body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.body.error.field, field, JSON.stringify(answer.body));
      assert.match(answer.body.error.message, message);
    }
    for (const query of ["limit=0", "limit=1001", "limit=a", "after=-1", "after=1.5", "backend="]) {
      const answer = await api.get(`/v1/transitions?${query}`);
      assert.equal(answer.status, 400, query);
      assert.equal(answer.body.error.field, query.split("=")[0]);
    }
    assert.deepEqual(rig.overrides.list(), []);
  });
});

test("refuses a body over 1 MiB, of untold length, or that is no JSON", async () => {
  await withApi(async (api, rig) => {
    rig.sync([report("gpu")]);
    const large = JSON.stringify({ why: "x".repeat(1_100_000) });
    assert.equal((await api.post("/v1/backends/gpu/open", large)).status, 413);
    const chunked = await fetch(`${api.url}/v1/backends/gpu/open`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Blob(['{"why":"a"}']).stream(),
      duplex: "half",
    });
    assert.equal(chunked.status, 411);
    const plain = await api.ask("POST", "/v1/backends/gpu/open", "why=a", { "content-type": "text/plain" });
    assert.deepEqual(
      [plain.status, plain.body.error.message],
      [415, "content-type must be application/json"],
    );
  });
});

test("has no room for a 513th override and says so", async () => {
  await withApi(async (api, rig) => {
    const names = Array.from({ length: 512 }, (_, index) => `b${index}`);
    for (const name of names) rig.overrides.set(name, "disabled", 60_000, "ada", "a");
    rig.sync([report("gpu")]);
    const answer = await api.post("/v1/backends/gpu/open", { why: "a" });
    assert.deepEqual([answer.status, /withdraw one/.test(answer.body.error.message)], [429, true]);
  });
});

test("an unknown path is 404 as JSON, and points to the description", async () => {
  await withApi(async (api) => {
    const answer = await api.get("/nothing");
    assert.deepEqual(
      [answer.status, answer.body.error.message],
      [404, "there is no such path; see /openapi.json"],
    );
    const peers = await api.get("/v1/peers");
    assert.deepEqual(peers.body, { engine: "none", members: [] });
    assert.equal((await api.get("/openapi.json")).body.openapi, "3.1.0");
  });
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { quicken, type Rig, startRig } from "../e2e/support/rig.js";
import { chainOf, clusterOf, protocolOf, type ShippedConfig } from "../e2e/support/shipped-config.js";
import { tracedYaml } from "../e2e/support/traced-yaml.js";
import { chat, send } from "../support/client.js";
import { completionJson } from "../support/completion.js";
import { freePort } from "../support/ports.js";
import { waitFor } from "../support/wait-for.js";
import { apiRoutes } from "./support/api-routes.js";
import { Haystack } from "./support/haystack.js";
import { SECRETS, SecretFiles } from "./support/secrets.js";
import { Called, RefusingRedis } from "./support/told-places.js";

// Every kind of secret is in use, and everything goes wrong once. Then whatever was written or served is searched for each of them.

const files = new SecretFiles();
const webhook = new Called(500);
const collector = new Called(200);
const engine = new Called(401);
const redis = new RefusingRedis();
const hay = new Haystack();
let adminUrl: string;
let rig: Rig;

const callers = {
  authorization: `Bearer ${SECRETS["a caller's key"]}`,
  "x-api-key": SECRETS["a caller's second key"],
  cookie: `session=${SECRETS["a caller's cookie"]}`,
};
const operator = { authorization: `Bearer ${SECRETS["an operator's token"]}` };
const soon = { "tracing.opentelemetry.flush_interval_ms": 100 };

/** Envoy's own secrets, where files would hold them. */
function plant(config: ShippedConfig): void {
  Object.assign(config, { layered_runtime: { layers: [{ name: "soon", static_layer: soon }] } });
  const injector = protocolOf(clusterOf(config, "public")).http_filters.find(({ name }) =>
    /injector/.test(name),
  );
  setKey(injector?.typed_config, `Bearer ${SECRETS["a backend's key"]}`, "backend");
  const http = clusterOf(config, "llm-breaker-service-http");
  const options = structuredClone(clusterOf(config, "public").typed_extension_protocol_options);
  const [protocol] = Object.values(options);
  const codec = protocol?.http_filters.at(-1);
  const copy = structuredClone(injector);
  setKey(copy?.typed_config, `Bearer ${SECRETS["the gateways' token"]}`, "sync");
  if (protocol && codec && copy) protocol.http_filters = [copy, codec];
  http.typed_extension_protocol_options = options;
  const secrets = planted.map(({ name, value }) => ({
    name,
    generic_secret: { secret: { inline_string: value } },
  }));
  Object.assign(config.static_resources, { secrets });
}

const planted: { name: string; value: string }[] = [];

function setKey(injector: unknown, value: string, name: string): void {
  planted.push({ name, value });
  const { credential } = injector as { credential: { typed_config: { credential: object } } };
  credential.typed_config.credential = { name };
}

before(async () => {
  const ports = {
    webhook: await webhook.listen(),
    collector: await collector.listen(),
    engine: await engine.listen(),
    redis: await redis.listen(),
  };
  const adminPort = await freePort();
  adminUrl = `http://127.0.0.1:${adminPort}`;
  rig = await startRig({
    text: tracedYaml(),
    movedPorts: { 4318: ports.collector },
    adminPort,
    concurrency: 1,
    logLevel: "info,wasm:trace",
    serviceConfig: { ...files.settings(ports), log: { level: "trace" } },
    policy: (policy) => {
      quicken(policy);
      policy.breaker.consecutiveFailuresThreshold = 2;
      Object.assign(chainOf(policy), { limits: true, sameTierRetries: 0 });
    },
    patch: plant,
  });
});

after(async () => {
  await rig?.stop();
  for (const called of [webhook, collector, engine, redis]) called.stop();
  files.remove();
});

const prompt = SECRETS["a prompt"];
const error = {
  error: { message: `EngineCore ${SECRETS["an error's text"]}`, type: "server_error", code: 500 },
};
const answer = completionJson("m", SECRETS["an answer"]);
const json = { "content-type": "application/json" };

/** Calls of every kind; what is ours to answer goes into the hay. */
async function call(): Promise<void> {
  const url = `${rig.url}/v1/chat/completions?key=${SECRETS["a key in a query"]}`;
  const bodies = [
    JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: prompt }] }),
    JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: prompt }], stream: true }),
    JSON.stringify({ model: "nobody-has-it", messages: [{ role: "user", content: prompt }] }),
    `{"model":"qwen3-32b","model":"qwen3-4b","messages":"${prompt}"}`,
    `{"model":"qwen3-32b","messages":[{"role":"user","content":"${prompt}`,
  ];
  for (const body of bodies) {
    const came = await send(url, { body, headers: { ...callers, "content-encoding": "identity" } });
    const told = JSON.stringify(came.headers);
    hay.add("headers of answers", told);
    if (came.headers["x-llm-breaker-backend"] === undefined) hay.add("our own answers", came.text);
  }
  const garbage = { ...callers, "content-encoding": "gzip" };
  hay.add(
    "headers of answers",
    JSON.stringify((await send(url, { body: prompt, headers: garbage })).headers),
  );
}

async function readAll(): Promise<void> {
  for (const { method, path, body } of apiRoutes()) {
    for (const headers of [{}, operator]) {
      if (path === "/v1/events") continue;
      const came = await send(`${adminUrl}${path}`, { method, headers, ...(body !== undefined && { body }) });
      hay.add("the control API", `${came.status} ${JSON.stringify(came.headers)} ${came.text}`);
    }
  }
  await send(`${adminUrl}/v1/events`, {
    headers: { ...operator, "last-event-id": "0" },
    leaveAfterMs: 300,
    onData: (piece) => hay.add("events", piece.toString()),
  });
  const page = await send(`${adminUrl}/`);
  hay.add("the page", page.text);
  for (const [, path] of page.text.matchAll(/(?:src|href)="(\/?[^"]+\.(?:js|css|svg))"/g))
    hay.add("the page", (await send(new URL(path ?? "", adminUrl).href)).text);
  for (const path of ["/metrics", "/healthz", "/none"])
    hay.add("metrics", (await send(`${rig.service?.httpUrl}${path}`)).text);
  hay.add("metrics", (await send(`${rig.envoy.adminUrl}/stats?filter=llm_breaker`)).text);
}

test("nothing that was written or served holds a secret", async () => {
  for (const upstream of [rig.gpu, rig.small, rig.public_])
    upstream.mode = { kind: "status", status: 200, headers: json, body: answer };
  await call();
  rig.gpu.mode = { kind: "status", status: 500, headers: json, body: JSON.stringify(error) };
  await call();
  await rig.waitForCause("CONSECUTIVE_FAILURES");
  for (const upstream of [rig.small, rig.public_])
    upstream.mode = { kind: "status", status: 500, headers: json, body: JSON.stringify(error) };
  for (let round = 0; round < 3; round++) await call();
  // Every request to each door of the service with what is nearly right.
  for (const token of Object.values(SECRETS)) {
    const authorization = `Bearer ${token}`;
    hay.add(
      "the control API",
      (
        await send(`${adminUrl}/v1/backends?token=${token}`, {
          headers: { authorization: `${authorization}x` },
        })
      ).text,
    );
    hay.add(
      "sync",
      (
        await send(`${rig.service?.httpUrl}/v1/sync?token=${token}`, {
          body: token,
          headers: { authorization: `${authorization}x` },
        })
      ).text,
    );
  }
  await waitFor(() => webhook.bodies.length > 0, 10_000, "a webhook");
  await waitFor(() => engine.heads.length > 0, 10_000, "a look at the engine's page");
  await waitFor(() => /CANARYredis/.test(redis.heard), 10_000, "Redis's refusal");
  await waitFor(
    () => collector.bodies.some((body) => body.includes("llm_breaker.count")),
    10_000,
    "the service's spans",
  );
  await readAll();
  rig.service?.signal("SIGHUP");
  await rig.service?.log.waitFor(/config/i, 10_000);
  hay.add("webhooks", webhook.bodies.join("\n"));
  hay.add("spans", collector.bodies.join("\n"));
  hay.add("Envoy's log", rig.envoy.logLines.join("\n"));
  hay.add("the service's log", rig.service?.log.all.join("\n") ?? "");

  // What came to each place shows that it was looked at while it told something.
  const shown: Readonly<Record<string, RegExp>> = {
    "our own answers": /"error"/,
    "headers of answers": /x-llm-breaker-tried/,
    "the control API": /"CONSECUTIVE_FAILURES"/,
    events: /event: transition/,
    "the page": /<!doctype html>[\s\S]*function/i,
    metrics: /llm_breaker_[\s\S]*outcome/,
    sync: /sync\.tokenFile/,
    webhooks: /"backend":"gpu"/,
    spans: /llm_breaker\.count/,
    "Envoy's log": /llm\.breaker transition/,
    "the service's log": /"msg":"transition"/,
  };
  for (const [place, sign] of Object.entries(shown)) assert.match(hay.textOf(place), sign, place);
  assert.deepEqual(
    hay.places.filter((place) => shown[place] === undefined),
    [],
  );
  assert.deepEqual(hay.find(SECRETS), []);
});

test("each went where it belongs, so all of them were in use", async () => {
  await chat(rig.url, { headers: callers });
  const sent = new Haystack();
  for (const upstream of [rig.gpu, rig.small, rig.public_])
    for (const { rawHeaders, path, body } of upstream.arrivals)
      sent.add("backends", `${rawHeaders} ${path} ${body}`);
  sent.add("others", [...webhook.heads, ...collector.heads, ...engine.heads, redis.heard].join("\n"));
  sent.add("callers", answer + JSON.stringify(error));
  const unseen = Object.keys(SECRETS).filter(
    (name) => sent.find({ [name]: SECRETS[name as keyof typeof SECRETS] }).length === 0,
  );
  // These are only held against what others send, or sign and seal with.
  assert.deepEqual(unseen, [
    "an operator's token",
    "the gateways' token",
    "the members' key",
    "the webhook's secret",
  ]);
  assert.ok((await rig.counter("gpu", "state")) >= 0);
  const gateways = JSON.parse((await send(`${adminUrl}/v1/gateways`, { headers: operator })).text);
  assert.equal(gateways.gateways.length, 1, "the gateway has the token");
  assert.match(webhook.heads.join(), /webhook-signature/i);
});

test("a log that holds one is found", async () => {
  await send(`${rig.envoy.adminUrl}/logging?http=debug`, { method: "POST" });
  await chat(rig.url, { headers: callers });
  const log = new Haystack();
  await rig.envoy.waitForLog(/CANARYcallerkey/, 5_000);
  log.add("Envoy's log", rig.envoy.logLines.join("\n"));
  log.add("a span", Buffer.from(`x${SECRETS["a prompt"]}y`).toString("base64"));
  log.add("a message", encodeURIComponent(`=${SECRETS["Redis's password"]}`));
  const found = log.find(SECRETS).map((line) => line.split(", in ")[0]);
  for (const each of ["Envoy's log: a caller's key", "a span: a prompt", "a message: Redis's password"])
    assert.ok(found.includes(each), `${each} of ${found}`);
});

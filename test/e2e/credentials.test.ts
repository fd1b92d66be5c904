import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send } from "../support/client.js";
import type { Upstream } from "../support/upstream.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf, type Filter, protocolOf, type ShippedConfig } from "./support/shipped-config.js";

let rig: Rig;

const callersSecrets = {
  authorization: "Bearer CALLERS-TOKEN",
  "x-api-key": "CALLERS-X-API-KEY",
  "api-key": "CALLERS-API-KEY",
  cookie: "session=CALLERS-COOKIE",
  "openai-organization": "CALLERS-ORG",
  "openai-project": "CALLERS-PROJECT",
  "proxy-authorization": "Basic CALLERS-PROXY",
  "x-goog-api-key": "CALLERS-GOOGLE",
  "x-amz-security-token": "CALLERS-AWS",
  "ocp-apim-subscription-key": "CALLERS-AZURE",
};
const gpuKey = "Bearer KEY-OF-THE-GPUS";
const publicKey = "Bearer demo-public-api-key";

before(async () => {
  rig = await startRig({
    policy: neverOpen,
    patch: (config) => {
      giveKey(config, "gpu");
      Object.assign(clusterOf(config, "gpu").metadata.filter_metadata["llm.breaker"], {
        credentials: "own",
        host: "gpu.internal",
        path: "/gpu/v1/chat",
      });
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

function giveKey(config: ShippedConfig, name: string): void {
  const generic = "type.googleapis.com/envoy.extensions.http.injected_credentials.generic.v3.Generic";
  const injector =
    "type.googleapis.com/envoy.extensions.filters.http.credential_injector.v3.CredentialInjector";
  const secret = { name: "gpu-key", generic_secret: { secret: { inline_string: gpuKey } } };
  const resources = config.static_resources as { secrets?: unknown[] };
  resources.secrets = [secret];
  const filter: Filter = {
    name: "envoy.filters.http.credential_injector",
    typed_config: {
      "@type": injector,
      overwrite: true,
      credential: { name: "key", typed_config: { "@type": generic, credential: { name: "gpu-key" } } },
    },
  };
  protocolOf(clusterOf(config, name)).http_filters.splice(-1, 0, filter);
}

function lastHeaders(upstream: Upstream): string[] {
  return [...(upstream.arrivals.at(-1)?.rawHeaders ?? [])];
}

function assertNothingOf(upstream: Upstream, secret: string): void {
  assert.ok(upstream.arrivals.length > 0);
  for (const { rawHeaders, path, body } of upstream.arrivals) {
    const all = [...rawHeaders, path, body.toString("latin1")].join("\n");
    assert.ok(!all.includes(secret), `"${secret}" reached a backend:\n${all}`);
  }
}

const allSick = (): void => {
  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind: "status", status: 500 };
};

for (const kind of ["status", "reset"] as const) {
  test(`the key of one tier reaches no other when attempts end by ${kind}`, async () => {
    const mode = kind === "status" ? ({ kind, status: 500 } as const) : ({ kind } as const);
    for (const upstream of [rig.gpu, rig.small]) upstream.mode = mode;
    const answer = await chat(rig.url, { headers: callersSecrets });
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
    assert.equal(rig.gpu.arrivals.at(-1)?.headers.authorization, gpuKey);
    assert.equal(rig.small.arrivals.at(-1)?.headers.authorization, callersSecrets.authorization);
    assert.equal(rig.public_.arrivals.at(-1)?.headers.authorization, publicKey);
    assertNothingOf(rig.small, "KEY-OF-THE-GPUS");
    assertNothingOf(rig.public_, "KEY-OF-THE-GPUS");
    assertNothingOf(rig.gpu, "demo-public-api-key");
  });
}

test("nothing of the caller's reaches a tier with credentials of its own, in any attempt", async () => {
  allSick();
  await chat(rig.url, { headers: callersSecrets });
  for (const upstream of [rig.gpu, rig.public_]) assertNothingOf(upstream, "CALLERS-");
});

test("a tier without credentials of its own gets all of the caller's, each as it came", async () => {
  allSick();
  await chat(rig.url, { headers: callersSecrets });
  for (const arrival of rig.small.arrivals) {
    for (const [name, value] of Object.entries(callersSecrets))
      assert.equal(arrival.headers[name], value, name);
  }
});

test("several cookies of the caller survive to the second tier", async () => {
  allSick();
  await send(`${rig.url}/v1/chat/completions`, {
    body: "{}",
    headers: { cookie: ["a=1", "b=2"] },
  });
  const cookies = rig.small.arrivals.at(-1)?.headers.cookie;
  assert.deepEqual(cookies?.split(/; ?|, ?/).sort(), ["a=1", "b=2"]);
});

test("path and host of one tier are not seen by the next", async () => {
  allSick();
  await chat(rig.url, { headers: { host: "callers.example" } });
  const seen = [rig.gpu, rig.small, rig.public_].map((upstream) => {
    const last = upstream.arrivals.at(-1);
    return [last?.headers.host, last?.path];
  });
  assert.deepEqual(seen, [
    ["gpu.internal", "/gpu/v1/chat"],
    ["callers.example", "/v1/chat/completions"],
    ["api.example.com", "/v1/chat/completions"],
  ]);
});

test("each tier is asked for an answer without a coding", async () => {
  allSick();
  await chat(rig.url, { headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
  for (const upstream of [rig.gpu, rig.small, rig.public_]) {
    assert.equal(upstream.arrivals.at(-1)?.headers["accept-encoding"], "identity");
  }
});

test("no header of the breaker's or of Envoy's goes to a backend", async () => {
  allSick();
  await chat(rig.url);
  for (const upstream of [rig.gpu, rig.small, rig.public_]) {
    const names = lastHeaders(upstream).filter((_, index) => index % 2 === 0);
    assert.deepEqual(
      names.filter((name) => /^x-(llm-breaker|envoy)-/i.test(name)),
      [],
    );
  }
});

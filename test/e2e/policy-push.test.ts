import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OPEN, type Rig, startRig } from "./support/rig.js";
import {
  chainOf,
  connectionManager,
  type Filter,
  type PolicyJson,
  policyOf,
  setPolicyText,
} from "./support/shipped-config.js";

let rig: Rig;
let gate: Filter;
let policy: PolicyJson;
let version = 0;
const folder = mkdtempSync(join(tmpdir(), "llm-breaker-push-"));
const file = join(folder, "gate.yaml");

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.waitDurationInOpenState = "60s";
      breaker.maxWaitDurationInOpenState = "60s";
    },
    patch: (config) => {
      const filters = connectionManager(config).http_filters;
      gate = structuredClone(filters[0] as Filter);
      policy = policyOf(gate);
      push(JSON.stringify(policy));
      filters[0] = {
        name: "llm.breaker.gate",
        config_discovery: {
          config_source: {
            resource_api_version: "V3",
            path_config_source: { path: file, watched_directory: { path: folder } },
          },
          type_urls: ["type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm"],
        },
      };
    },
  });
});

after(async () => {
  await rig?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function push(policyText: string): void {
  setPolicyText(gate, policyText);
  const type = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
  const resources = [{ "@type": type, name: "llm.breaker.gate", typed_config: gate.typed_config }];
  writeFileSync(`${file}.next`, JSON.stringify({ version_info: String(++version), resources }));
  renameSync(`${file}.next`, file);
}

const reloads = (how: string) =>
  rig.envoy.stat(`extension_config_discovery.http_filter.llm.breaker.gate.${how}`);

async function pushAndWait(policyText: string, how: "config_reload" | "config_fail"): Promise<void> {
  const before = await reloads(how);
  push(policyText);
  await waitFor(async () => (await reloads(how)) > before, 10_000, how);
}

test("a pushed policy serves the next request, with no request lost", async () => {
  const headerless = structuredClone(policy);
  chainOf(headerless).answerHeaders = false;
  let pushing = true;
  const statuses: number[] = [];
  const caller = async (): Promise<void> => {
    while (pushing || statuses.length < 50) statuses.push((await chat(rig.url)).status);
  };
  const callers = [caller(), caller(), caller(), caller()];
  for (const [json, isNamed] of [
    [headerless, false],
    [policy, true],
    [headerless, false],
    [policy, true],
  ] as const) {
    await pushAndWait(JSON.stringify(json), "config_reload");
    const serves = async () => "x-llm-breaker-backend" in (await chat(rig.url)).headers === isNamed;
    await waitFor(serves, 5_000, "the pushed policy");
  }
  pushing = false;
  await Promise.all(callers);
  assert.ok(statuses.every((status) => status === 200));
});

test("a push leaves a backend's state as it is", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
  rig.reset();
  const changed = structuredClone(policy);
  changed.breaker.failureRateThreshold = 50;
  await pushAndWait(JSON.stringify(changed), "config_reload");
  for (let call = 0; call < 6; call++) {
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "small");
  }
  assert.deepEqual(rig.hits, [0, 6, 0]);
  assert.equal(await rig.state(), OPEN);
});

test("a wrong policy that is pushed is refused by name, and the old one serves on", async () => {
  const wrong = structuredClone(policy);
  wrong.breaker.failureRateThreshold = 101;
  chainOf(wrong).maxAttempts = 99;
  await pushAndWait(JSON.stringify(wrong), "config_fail");
  const line = await rig.envoy.waitForLog(/the policy is refused, nothing changed/);
  assert.match(line, /breaker\.failureRateThreshold.*chains\.chat\.maxAttempts/);
  rig.reset();
  for (let call = 0; call < 6; call++) {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  }
  assert.equal(await rig.state(), OPEN);
});

test("a stream that began under the old policy ends well under the new one, and is judged", async () => {
  const success = await rig.counter("small", "outcome.success");
  rig.small.mode = { kind: "sse", events: 15, gapMs: 100 };
  const stream = chat(rig.url, { stream: true });
  await waitFor(() => rig.small.active === 1, 5_000, "the stream");
  const changed = structuredClone(policy);
  changed.breaker.failureRateThreshold = 60;
  await pushAndWait(JSON.stringify(changed), "config_reload");
  const answer = await stream;
  assert.ok(answer.complete);
  assert.match(answer.text, /\[DONE\]/);
  await rig.waitForCounter("small", "outcome.success", success + 1);
});

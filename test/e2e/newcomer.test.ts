import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { chat, send } from "../support/client.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import { freePort } from "../support/ports.js";
import { findRepoRoot } from "../support/repo-root.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { CLOSED, OPEN } from "./support/rig.js";
import { type TheirPorts, theirEnvoy } from "./support/their-envoy.js";

// What a newcomer does: an envoy.yaml that knows nothing of us, ten lines of policy, render --into, check, run.

const POLICY = `name: chat
backends:
  vllm:
  spare:
chains:
  chat: { tiers: [vllm, spare], firstTokenTimeout: 1s }
breaker:
  waitDurationInOpenState: 300ms
  ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }]
`;

const repo = findRepoRoot();
const folder = mkdtempSync(join(tmpdir(), "llm-breaker-newcomer-"));
const file = join(folder, "envoy.yaml");
const policy = join(folder, "policy.yaml");
let ports: TheirPorts;
let vllm: Upstream;
let spare: Upstream;
let envoy: RunningEnvoy;

const llmBreaker = (...words: string[]) =>
  promisify(execFile)(process.execPath, [join(repo, "build/js/extproc/cli/main.js"), ...words]);

before(async () => {
  vllm = await startUpstream();
  spare = await startUpstream();
  ports = { admin: await freePort(), clients: await freePort(), vllm: vllm.port, spare: spare.port };
  writeFileSync(file, theirEnvoy(ports));
  writeFileSync(policy, POLICY);
});

after(async () => {
  await envoy?.stop();
  await vllm?.stop();
  await spare?.stop();
  rmSync(folder, { recursive: true });
});

const url = () => `http://127.0.0.1:${ports.clients}`;
const state = (alias: string) => envoy.stat(`wasmcustom.llm_breaker.${alias}.state`);

test("render --into keeps each line of theirs but the route's, and tells what it did", async () => {
  const { stderr } = await llmBreaker("render", policy, "--into", file);
  const written = readFileSync(file, "utf8").split("\n");
  const lost = theirEnvoy(ports)
    .split("\n")
    .filter((line) => !written.includes(line));
  assert.deepEqual(
    lost.map((line) => line.trim()),
    ["route: {cluster: vllm}", "circuit_breakers: {thresholds: [{max_requests: 200}]}"],
  );
  assert.match(stderr, /envoy\.yaml:30 route: \{cluster: vllm\} → /);
});

test("a second time it changes nothing", async () => {
  const once = readFileSync(file, "utf8");
  const { stderr } = await llmBreaker("render", policy, "--into", file);
  assert.equal(readFileSync(file, "utf8"), once);
  assert.match(stderr, /has it all already/);
});

test("check finds no error in it", async () => {
  const { stdout } = await llmBreaker("check", file);
  assert.doesNotMatch(stdout, / error /);
});

test("Envoy runs it, and callers get their answers from the first tier", async () => {
  envoy = await startEnvoy({ configFile: relative(repo, file) });
  const answer = await chat(url());
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "vllm");
  assert.equal((await send(`${url()}/healthz`)).status, 200);
});

test("the first tier dies: each caller is served by the other, and it opens", async () => {
  vllm.mode = { kind: "hang" };
  const first = await chat(url(), { stream: true });
  assert.deepEqual([first.status, first.headers["x-llm-breaker-backend"]], [200, "spare"]);
  vllm.mode = { kind: "reset" };
  for (let call = 0; call < 6; call++) assert.equal((await chat(url())).status, 200);
  await waitFor(async () => (await state("vllm")) === OPEN, 5_000, "vllm to open");
});

test("it comes back: a probe, the ramp, and its traffic again", async () => {
  vllm.mode = { kind: "ok" };
  await waitFor(
    async () => {
      assert.equal((await chat(url())).status, 200);
      return (await state("vllm")) === CLOSED;
    },
    10_000,
    "vllm to close",
  );
  assert.equal((await chat(url())).headers["x-llm-breaker-backend"], "vllm");
});

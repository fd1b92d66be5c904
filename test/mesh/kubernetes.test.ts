import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { kubernetesTarget } from "../../extproc/render/targets/kubernetes/target.js";
import { chat, send } from "../support/client.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import type { EnvoyConfig } from "../support/envoy-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { type KubernetesObject, rendered } from "./rendered.js";

// What is in the pods, run by a real Envoy: its file, and the policy as the file of a mounted ConfigMap.
let gpu: Upstream;
let small: Upstream;
let envoy: RunningEnvoy;
let folder: string;
let objects: readonly KubernetesObject[];

interface ConfigMap extends KubernetesObject {
  readonly data: Readonly<Record<string, string>>;
}

const policyWith = (breaker: string): string => `
name: chat
backends:
  gpu: { url: "http://127.0.0.1:${gpu.port}" }
  small: { url: "http://127.0.0.1:${small.port}" }
breaker: { waitDurationInOpenState: 60s, probe: { body: { model: m, messages: [] } }${breaker} }
chains: { chat: { tiers: [gpu, small], answerTimeout: 4s } }
`;

before(async () => {
  [gpu, small] = await Promise.all([startUpstream(), startUpstream()]);
  folder = mkdtempSync(join(tmpdir(), "llm-breaker-pod-"));
  objects = rendered(kubernetesTarget, policyWith("")).objects;
  mount(fileOf(objects, "llm-breaker-chat-policy", "gate.yaml"));
  const config = parse(here(fileOf(objects, "llm-breaker-chat-envoy", "envoy.yaml")), {
    merge: true,
  }) as EnvoyConfig;
  envoy = await startEnvoy({ config, ports: { [gpu.port]: gpu.port, [small.port]: small.port } });
});

after(async () => {
  await envoy?.stop();
  await Promise.all([gpu?.stop(), small?.stop()]);
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function fileOf(all: readonly KubernetesObject[], name: string, file: string): string {
  const found = all.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name);
  return (found as ConfigMap | undefined)?.data[file] ?? assert.fail(`no ${name}`);
}

/** The pods' folders on this machine. */
function here(text: string): string {
  return text
    .replaceAll("/var/lib/llm-breaker", join(findRepoRoot(), "build"))
    .replaceAll("/config/policy", folder);
}

let mounts = 0;

/** As kubelets do: files in a folder of their own, and a link that is swapped. */
function mount(gate: string): void {
  const data = `..data_${mounts++}`;
  mkdirSync(join(folder, data));
  writeFileSync(join(folder, data, "gate.yaml"), here(gate));
  symlinkSync(data, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  if (mounts === 1) symlinkSync("..data/gate.yaml", join(folder, "gate.yaml"));
}

test("probes and Prometheus are answered, and nothing else of the admin port is", async () => {
  const status = envoy.url(9902);
  assert.equal((await send(`${status}/ready`)).status, 200);
  assert.match((await send(`${status}/stats/prometheus`)).text, /envoy_server_live/);
  assert.equal((await send(`${status}/quitquitquit`, { method: "POST" })).status, 404);
  assert.equal((await send(`${status}/config_dump`)).status, 404);
});

test("a request fails over in flight", async () => {
  gpu.mode = { kind: "status", status: 500 };
  const answer = await chat(envoy.url(10_000));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
});

test("another policy in its ConfigMap is in force without a restart", async () => {
  const forced = rendered(kubernetesTarget, policyWith(", mode: forcedOpen")).objects;
  mount(fileOf(forced, "llm-breaker-chat-policy", "gate.yaml"));
  await waitFor(async () => (await chat(envoy.url(10_000))).status === 503, 5_000, "the new policy");
});

test("a policy's change makes no new pods, a change of Envoy's file does", () => {
  const configOf = (policy: string): unknown => {
    const all = rendered(kubernetesTarget, policy).objects as unknown as { kind: string; spec: Deployment }[];
    return all.find(({ kind }) => kind === "Deployment")?.spec.template.metadata.annotations[
      "llm-breaker/config"
    ];
  };
  const before = configOf(policyWith(""));
  assert.equal(configOf(policyWith(", mode: forcedOpen")), before);
  assert.notEqual(configOf(policyWith("").replace("answerTimeout: 4s", "answerTimeout: 5s")), before);
});

interface Deployment {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata: {
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    };
    readonly spec: {
      readonly containers: readonly Container[];
      readonly initContainers?: readonly Container[];
      readonly volumes: readonly { readonly name: string }[];
    };
  };
}

interface Container {
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

test("every mount has its volume, no mount is inside another, and every root is read-only", () => {
  const policy = `${policyWith("").replace("small: {", "small: { keyFile: /etc/llm-breaker/key.yaml, model: m,")}`;
  for (const service of ["sidecar", "shared"]) {
    const deployments = rendered(kubernetesTarget, policy, { service }).objects.filter(
      ({ kind }) => kind === "Deployment",
    );
    assert.equal(deployments.length, service === "shared" ? 2 : 1);
    for (const { spec } of deployments) {
      const { selector, template } = spec as Deployment;
      for (const [key, value] of Object.entries(selector.matchLabels))
        assert.equal(template.metadata.labels[key], value);
      const volumes = template.spec.volumes.map(({ name }) => name);
      for (const container of [...template.spec.containers, ...(template.spec.initContainers ?? [])]) {
        assert.equal(container.securityContext.readOnlyRootFilesystem, true);
        const paths = container.volumeMounts.map(({ mountPath }) => mountPath);
        for (const { name } of container.volumeMounts) assert.ok(volumes.includes(name), name);
        for (const path of paths) assert.ok(!paths.some((other) => other.startsWith(`${path}/`)), path);
      }
    }
  }
});

import { join } from "node:path";
import type { TargetValues } from "../../extproc/render/target.js";
import { istioTarget } from "../../extproc/render/targets/istio/target.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import type { EnvoyConfig } from "../support/envoy-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { applyEnvoyFilter, type EnvoyFilter } from "./istio-patches.js";
import { type IstioHost, istioProxy } from "./istio-proxy.js";
import { only, rendered } from "./rendered.js";

export interface PatchedProxy {
  readonly config: EnvoyConfig;
  /** By patch: whether it found something to change. */
  readonly applied: readonly boolean[];
  readonly text: string;
}

/** A proxy of Istio `version` as its control plane would make it with what `policy` is rendered to. */
export function patchedProxy(
  policy: string,
  hosts: readonly [IstioHost, ...IstioHost[]],
  version: string,
  options: TargetValues = {},
): PatchedProxy {
  const { objects, text } = rendered(istioTarget, policy, {
    "istio-version": version.split(".").slice(0, 2).join("."),
    wasm: join(findRepoRoot(), "build"),
    ...options,
  });
  const config = structuredClone(istioProxy(routeNames(text), hosts[0], hosts, "inference-pool" in options));
  const filter = only<EnvoyFilter>(objects, "EnvoyFilter");
  const applied = applyEnvoyFilter(config, filter, { version, context: "GATEWAY" });
  return { config, applied, text };
}

/** As the user's VirtualService would have them. */
function routeNames(text: string): readonly string[] {
  return [
    ...new Set([...text.matchAll(/vhost: \{ route: \{ name: (\S+) \} \}/g)].map(([, name = ""]) => name)),
  ];
}

/** `upstreams`: ports that stay as they are. */
export function startProxy(config: EnvoyConfig, upstreams: readonly number[]): Promise<RunningEnvoy> {
  return startEnvoy({ config, ports: Object.fromEntries(upstreams.map((port) => [port, port])) });
}

import { join } from "node:path";
import { istioTarget } from "../../extproc/render/targets/istio/target.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import type { EnvoyConfig } from "../support/envoy-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { applyEnvoyFilter, type EnvoyFilter } from "./istio-patches.js";
import { type IstioHost, istioProxy } from "./istio-proxy.js";
import { only, rendered } from "./rendered.js";

export const ROUTE = "llm-chat";

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
  options: Readonly<Record<string, string | boolean>> = {},
): PatchedProxy {
  const { objects, text } = rendered(istioTarget, policy, {
    "istio-version": version.split(".").slice(0, 2).join("."),
    wasm: join(findRepoRoot(), "build"),
    ...options,
  });
  const config = istioProxy(ROUTE, hosts[0], hosts);
  const filter = only<EnvoyFilter>(objects, "EnvoyFilter");
  const applied = applyEnvoyFilter(config, filter, { version, context: "GATEWAY" });
  return { config, applied, text };
}

/** `upstreams`: ports that stay as they are. */
export function startProxy(config: EnvoyConfig, upstreams: readonly number[]): Promise<RunningEnvoy> {
  return startEnvoy({ config, ports: Object.fromEntries(upstreams.map((port) => [port, port])) });
}

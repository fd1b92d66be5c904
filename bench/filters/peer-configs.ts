import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { findRepoRoot } from "../../test/support/repo-root.js";
import { nodesOf } from "../configs.js";

export interface Filter {
  readonly name: string;
  readonly typed_config: Readonly<Record<string, unknown>>;
}

const extensions = "type.googleapis.com/envoy.extensions.filters.http";

/** The listener's chain with one filter more, before the router; and, where it has two positions, each cluster's, too. */
export function withFilter(config: EnvoyConfig, filter: Filter, inClusters?: Filter): EnvoyConfig {
  for (const node of nodesOf(config)) {
    if (!Array.isArray(node.http_filters)) continue;
    const added = "route_config" in node ? filter : inClusters;
    if (added) node.http_filters.unshift(added);
  }
  return config;
}

/** Envoy's own, with its window and threshold as the breaker has them by default. Nothing is rejected while the backend is well. */
export function admissionControl(): Filter {
  return {
    name: "envoy.filters.http.admission_control",
    typed_config: {
      "@type": `${extensions}.admission_control.v3.AdmissionControl`,
      enabled: { default_value: true, runtime_key: "bench.admission_control.enabled" },
      sampling_window: "30s",
      sr_threshold: { default_value: { value: 65 }, runtime_key: "bench.admission_control.threshold" },
      aggression: { default_value: 1.5, runtime_key: "bench.admission_control.aggression" },
      rps_threshold: { default_value: 1, runtime_key: "bench.admission_control.rps" },
      success_criteria: { http_criteria: { http_success_status: [{ start: 200, end: 500 }] } },
    },
  };
}

/** @param script a file's name in bench/peers/lua */
export function lua(script: string): Filter {
  const source = readFileSync(join(findRepoRoot(), "bench", "peers", "lua", script), "utf8");
  const code = { inline_string: source };
  return {
    name: "envoy.filters.http.lua",
    typed_config: { "@type": `${extensions}.lua.v3.Lua`, default_source_code: code },
  };
}

/** As our own modules are loaded. Equal modules share a VM, unless they are told apart by `vm`: as ours are. */
export function wasm(module: string, configuration = "", vm = ""): Filter {
  const text = (value: string) => ({ "@type": "type.googleapis.com/google.protobuf.StringValue", value });
  return {
    name: "envoy.filters.http.wasm",
    typed_config: {
      "@type": `${extensions}.wasm.v3.Wasm`,
      config: {
        name: "bench",
        root_id: "bench",
        failure_policy: "FAIL_RELOAD",
        configuration: text(configuration),
        vm_config: {
          vm_id: "bench",
          configuration: text(vm),
          runtime: "envoy.wasm.runtime.v8",
          code: { local: { filename: module } },
        },
      },
    },
  };
}

import { commented, type YamlMap } from "../yaml/value.js";
import { extension, typed } from "./types.js";

/** A position of the filter, by its `root_id`. */
export type Position = "gate" | "admit" | "meter" | "guard";

/** Gate and admit share one VM; what reads answers has another, so that a fault there leaves the gate alive. */
const MODULES: Readonly<Record<Position, string>> = {
  gate: "llm-breaker-gate.wasm",
  admit: "llm-breaker-gate.wasm",
  meter: "llm-breaker-meter.wasm",
  guard: "llm-breaker-meter.wasm",
};

/** Admit reads no body. */
const HOLDS_HEADERS: ReadonlySet<Position> = new Set(["gate", "meter", "guard"]);

export interface WasmPlace {
  /** Folder of the modules where Envoy runs. */
  readonly wasmFolder: string;
}

/** What a position is told. */
type Configuration = YamlMap[string];

export function wasmFilter(
  position: Position,
  { wasmFolder }: WasmPlace,
  configuration?: Configuration,
): YamlMap {
  return extension(`llm.breaker.${position}`, "envoy.extensions.filters.http.wasm.v3.Wasm", {
    config: {
      name: `llm.breaker.${position}`,
      root_id: position,
      allow_on_headers_stop_iteration: HOLDS_HEADERS.has(position)
        ? commented("TRAP: without it whatever is held waits for ever, and nothing is logged.", true)
        : undefined,
      failure_policy: "FAIL_RELOAD",
      reload_config: { backoff: { base_interval: "0.01s", max_interval: "1s" } },
      vm_config: {
        vm_id: "llm.breaker",
        runtime: "envoy.wasm.runtime.v8",
        code: { local: { filename: `${wasmFolder}/${MODULES[position]}` } },
      },
      configuration,
    },
  });
}

export function gateFilter(place: WasmPlace, policy: string): YamlMap {
  const configuration = typed("google.protobuf.StringValue", { value: policy });
  const comment = "The policy. docs/configuration.md has every field, its default and its bounds.";
  return wasmFilter("gate", place, commented(comment, configuration));
}

/** @param metadata the cluster's */
export function meterFilter(place: WasmPlace, metadata: Readonly<Record<string, string>>): YamlMap {
  const configuration = typed("google.protobuf.Struct", { value: { ...metadata } });
  const comment = "The cluster's metadata once more: a meter that is told them reads none for an attempt.";
  return wasmFilter("meter", place, commented(comment, configuration));
}

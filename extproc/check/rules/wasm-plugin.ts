import type { MeshObject, Setup } from "../setup/setup.js";
import { OURS } from "./istio-patches.js";
import type { Rule } from "./rule.js";

function wasmPlugins(setup: Setup): readonly MeshObject[] {
  return [...setup.objectsOf("WasmPlugin"), ...setup.objectsOf("TrafficExtension")].filter(({ spec }) => {
    const config = spec.at("pluginConfig");
    return (
      OURS.test(spec.at("url")?.text ?? "") ||
      (config?.at("chains") && config.at("backends")) ||
      ["gate", "admit", "meter", "guard"].includes(spec.at("pluginName")?.text ?? "")
    );
  });
}

export const wasmPluginRules: readonly Rule[] = [
  {
    id: "wasmplugin-vm",
    level: "error",
    harm: "a WasmPlugin's vm_id is always empty: it shares nothing with filters that have one, and no outcome reaches its breaker",
    fix: "no vm_id in any filter beside a WasmPlugin, or the gate by EnvoyFilter",
    *find(setup) {
      const [plugin] = wasmPlugins(setup);
      const filter = setup.filters.find(
        (each) => each.plugin && each.role !== "other" && each.plugin.textOf("vm_config", "vm_id"),
      );
      if (plugin && filter?.plugin)
        yield {
          at: filter.plugin,
          what: `${filter.name} has a vm_id, and ${plugin.kind} ${plugin.name} can have none`,
        };
    },
  },
  {
    id: "wasmplugin-position",
    level: "error",
    harm: "a WasmPlugin stands before the router and can't be told to hold headers: nothing of an attempt is seen",
    fix: "the meter by EnvoyFilter among the cluster's http_filters",
    *find(setup) {
      for (const { spec, name, kind } of wasmPlugins(setup)) {
        const position = spec.at("pluginName");
        if (position && ["meter", "guard"].includes(position.text ?? ""))
          yield { at: position, what: `${kind} ${name} is the ${position.text}` };
      }
    },
  },
  {
    id: "wasmplugin-inbound",
    level: "warning",
    harm: "it lands on inbound listeners, too: requests to the workload itself meet the gate",
    fix: "match: [{ mode: CLIENT }]",
    *find(setup) {
      for (const { spec, name, kind } of wasmPlugins(setup)) {
        const modes = spec.list("match").map((each) => each.at("mode")?.text);
        if (modes.length === 0 || modes.some((mode) => mode !== "CLIENT"))
          yield { at: spec, what: `${kind} ${name} is not for callers alone` };
      }
    },
  },
  {
    id: "wasmplugin-pull",
    level: "warning",
    harm: "when the pull fails Istio puts a deny-all in its place: all LLM traffic gets 403 while the registry is away",
    fix: "url: file:///… from an image volume or an init container",
    *find(setup) {
      for (const { spec, name, kind } of wasmPlugins(setup)) {
        const url = spec.at("url");
        if (url && !url.text?.startsWith("file://"))
          yield { at: url, what: `${kind} ${name} is pulled from ${url.text}` };
      }
    },
  },
];

import type { HttpFilter } from "../setup/filters.js";
import type { Setup } from "../setup/setup.js";
import type { Found, Rule } from "./rule.js";

const MAX_BACK_OFF_MS = 100;
const OUR_WASM: readonly string[] = ["gate", "admit", "meter", "guard"];

/** Ours, as far as their configuration is in the files. */
function ours(setup: Setup): readonly (HttpFilter & { plugin: NonNullable<HttpFilter["plugin"]> })[] {
  return setup.filters.flatMap((filter) =>
    OUR_WASM.includes(filter.role) && filter.plugin ? [{ ...filter, plugin: filter.plugin }] : [],
  );
}

/** Each pair of roles in one list that stands the wrong way round. */
function* order(
  setup: Setup,
  first: HttpFilter["role"],
  then: readonly HttpFilter["role"][],
): Iterable<Found> {
  for (const filters of [
    ...setup.connections.map((each) => each.filters),
    setup.partFilters,
    ...setup.clusters.map((each) => each.filters),
  ]) {
    const at = filters.findIndex(({ role }) => role === first);
    const before = filters.slice(0, Math.max(0, at)).find(({ role }) => then.includes(role));
    const late = filters[at];
    if (before && late) yield { at: late.at, what: `${late.name} stands behind ${before.name}` };
  }
}

export const filterRules: readonly Rule[] = [
  {
    id: "gate-missing",
    level: "error",
    harm: "nothing names a backend: every request ends at the stop cluster",
    fix: "llm.breaker.gate before the router",
    *find(setup) {
      for (const { routes, filters } of setup.connections) {
        const isGated = filters.some(({ role }) => role === "gate");
        const plugins = routes?.list("cluster_specifier_plugins") ?? [];
        const matcher = plugins.find((each) => stateKeyOf(each) === "wasm.llm.breaker.backend");
        if (matcher && !isGated)
          yield {
            at: matcher,
            what: "routes go where the gate says, and the connection manager has no gate",
          };
      }
    },
  },
  {
    id: "gate-order",
    level: "error",
    harm: "it runs too late, or never: what stands before it has already acted",
    fix: "order: authentication, gate, count, admit, router",
    *find(setup) {
      yield* order(setup, "gate", ["count", "admit", "router", "remember"]);
    },
  },
  {
    id: "gate-before-authentication",
    level: "warning",
    harm: "strangers take permits and canaries, and learn how backends stand",
    fix: "authentication before the gate",
    *find(setup) {
      for (const { filters } of setup.connections) {
        const gate = filters.findIndex(({ role }) => role === "gate");
        const late = filters.slice(gate + 1).find(({ role }) => role === "authentication");
        if (gate >= 0 && late) yield { at: late.at, what: `${late.name} stands behind the gate` };
      }
    },
  },
  {
    id: "admit-order",
    level: "error",
    harm: "admit looks for a count that has not been made: no request ever becomes a canary",
    fix: "order: gate, count, admit, router",
    *find(setup) {
      yield* order(setup, "count", ["admit", "router"]);
      yield* order(setup, "admit", ["router"]);
    },
  },
  {
    id: "admit-missing",
    level: "error",
    harm: "counts are made and never used: a recovered backend gets no canaries by count",
    fix: "llm.breaker.admit behind llm.breaker.count",
    *find(setup) {
      for (const filters of [...setup.connections.map((each) => each.filters), setup.partFilters]) {
        const count = filters.find(({ role }) => role === "count");
        if (count && !filters.some(({ role }) => role === "admit"))
          yield { at: count.at, what: "there is a count and no admit" };
      }
    },
  },
  {
    id: "gate-disabled",
    level: "error",
    harm: "the gate runs for nobody",
    fix: "no `disabled`, or typed_per_filter_config with a FilterConfig for it on the route",
    *find(setup) {
      for (const gate of setup.filtersOfRole("gate")) {
        const enabled = setup.routes.some(({ at, host, table }) =>
          [at, host, table].some((each) => each?.get("typed_per_filter_config")?.at(gate.name)),
        );
        if (gate.isDisabled && setup.routes.length > 0 && !enabled)
          yield { at: gate.at, what: `${gate.name} is disabled, and no route turns it on` };
      }
    },
  },
  {
    id: "stop-iteration",
    level: "error",
    harm: "every request with a body, or every answer that is held, waits for ever; nothing is logged",
    fix: "allow_on_headers_stop_iteration: true in the plugin's config",
    *find(setup) {
      for (const { role, plugin, name } of ours(setup)) {
        if (role === "admit" || plugin.isTrue("allow_on_headers_stop_iteration")) continue;
        yield { at: plugin, what: `${name || role} has no allow_on_headers_stop_iteration` };
      }
    },
  },
  {
    id: "failure-policy",
    level: "error",
    harm: "after a fault in the filter that worker answers 503 until Envoy is restarted, or lets everything by unseen",
    fix: "failure_policy: FAIL_RELOAD",
    *find(setup) {
      for (const { plugin, name } of ours(setup)) {
        const policy = plugin.get("failure_policy");
        if (policy?.text === "FAIL_RELOAD") continue;
        yield {
          at: policy ?? plugin,
          what: `failure_policy of ${name} is ${policy?.text ?? "FAIL_CLOSED, Envoy's default"}`,
        };
      }
    },
  },
  {
    id: "reload-back-off",
    level: "warning",
    harm: "a second of 503 on that worker after a fault in the filter",
    fix: "reload_config: { backoff: { base_interval: 0.01s, max_interval: 1s } }",
    *find(setup) {
      for (const { plugin, name } of ours(setup)) {
        const interval = plugin.millisecondsOf("reload_config", "backoff", "base_interval");
        if (interval !== undefined && interval <= MAX_BACK_OFF_MS) continue;
        if (plugin.textOf("failure_policy") !== "FAIL_RELOAD") continue;
        yield {
          at: plugin,
          what: `${name} is loaded again after ${interval === undefined ? "1 s, Envoy's default" : `${interval} ms`}`,
        };
      }
    },
  },
  {
    id: "vm-id-differs",
    level: "error",
    harm: "shared data is by vm_id: gate and meter never meet, and no outcome ever reaches a breaker",
    fix: "the same vm_id everywhere (llm.breaker), or none anywhere",
    *find(setup) {
      const all = ours(setup);
      const [first] = all;
      const idOf = ({ plugin }: (typeof all)[number]) => plugin.textOf("vm_config", "vm_id") ?? "";
      const odd = all.find((each) => first && idOf(each) !== idOf(first));
      if (first && odd)
        yield {
          at: odd.plugin,
          what: `vm_id of ${odd.name} is "${idOf(odd)}", of ${first.name} "${idOf(first)}"`,
        };
    },
  },
  {
    id: "meter-shares-vm",
    level: "warning",
    harm: "a fault in reading an answer takes the gate with it: new requests of that worker are cut, too",
    fix: "build/llm-breaker-meter.wasm for meter and guard, build/llm-breaker-gate.wasm for gate and admit; the vm_id stays the same",
    *find(setup) {
      const all = ours(setup);
      const vmOf = ({ plugin }: (typeof all)[number]) => {
        const vm = plugin.get("vm_config");
        return JSON.stringify([
          vm?.textOf("code", "local", "filename"),
          vm?.textOf("configuration", "value"),
          vm?.get("environment_variables")?.offset,
        ]);
      };
      const gate = all.find(({ role }) => role === "gate");
      const meter = all.find(({ role }) => role === "meter");
      if (gate && meter && vmOf(gate) === vmOf(meter))
        yield { at: meter.plugin, what: `${meter.name} is in one VM with ${gate.name}` };
    },
  },
  {
    id: "root-id",
    level: "error",
    harm: "the module does not know its position: the filter does nothing",
    fix: "root_id: gate, admit, meter or guard",
    *find(setup) {
      for (const { plugin, role, name } of ours(setup)) {
        const root = plugin.textOf("root_id");
        if (root !== role && !OUR_WASM.includes(root ?? ""))
          yield { at: plugin, what: `root_id of ${name} is ${root ?? "missing"}` };
      }
    },
  },
  {
    id: "wasm-remote",
    level: "warning",
    harm: "a server that is away when Envoy starts keeps LLM traffic away, too (Istio puts a deny-all in the filter's place)",
    fix: "code: { local: { filename: … } }: a file in the image, an image volume or an init container",
    *find(setup) {
      for (const { plugin, name } of ours(setup)) {
        const remote = plugin.get("vm_config", "code", "remote");
        if (remote) yield { at: remote, what: `${name} is fetched over the network` };
      }
    },
  },
];

function stateKeyOf(plugin: Found["at"]): string | undefined {
  return plugin.textOf(
    "extension",
    "typed_config",
    "cluster_matcher",
    "matcher_tree",
    "input",
    "typed_config",
    "key",
  );
}

import type { Located } from "../tree/located.js";
import type { Rule } from "./rule.js";

const FLAGS = ["UH", "UF", "NC", "NR", "UT", "URX"];
/** Holds callers' keys. */
const ORIGINAL = "wasm.llm.breaker.original";

export const operationRules: readonly Rule[] = [
  {
    id: "local-reply",
    level: "warning",
    harm: "replies that Envoy makes itself are text without Retry-After: clients of an LLM fail to parse them",
    fix: `local_reply_config with response_flag_filter: { flags: [${FLAGS.join(", ")}, …] }, as in envoy/full.yaml`,
    *find(setup) {
      for (const { at, isPart } of setup.gated) {
        const replies = at.get("local_reply_config");
        if (!isPart && (replies?.list("mappers").length ?? 0) === 0)
          yield { at: replies ?? at, what: "there is no local_reply_config" };
      }
    },
  },
  {
    id: "internal-addresses",
    level: "warning",
    harm: "whoever comes from there sets retries and timeouts by x-envoy-* headers on routes without the breaker, and by retries of 1 ms makes every backend look sick",
    fix: "no internal_address_config on a listener that callers reach",
    *find(setup) {
      for (const { at } of setup.gated) {
        const internal = at.get("internal_address_config");
        const ranges = internal?.list("cidr_ranges") ?? [];
        if (internal && (ranges.length > 0 || internal.isTrue("unix_sockets"))) {
          const names = ranges.map(
            (each) => `${each.textOf("address_prefix")}/${each.textOf("prefix_len") ?? 0}`,
          );
          yield { at: internal, what: `${names.join(", ") || "a socket"} is internal` };
        }
      }
    },
  },
  {
    id: "envoy-headers",
    level: "warning",
    harm: "backends, public APIs too, are told our timeouts and attempts",
    fix: "suppress_envoy_headers: true on the router",
    *find(setup) {
      for (const { filters } of setup.gated) {
        const router = filters.find(({ role }) => role === "router");
        if (router && !router.config.isTrue("suppress_envoy_headers"))
          yield { at: router.at, what: "the router adds x-envoy-* to requests" };
      }
    },
  },
  {
    id: "log-shows-keys",
    level: "error",
    harm: "callers' keys are in the log",
    fix: `no ${ORIGINAL} in a log`,
    *find(setup) {
      for (const { at } of setup.connections) {
        for (const log of at.list("access_log")) {
          const shown = textsOf(log).find(({ text }) => text?.includes(ORIGINAL));
          if (shown) yield { at: shown, what: "an access log shows the caller's original headers" };
        }
      }
    },
  },
  {
    id: "admin-open",
    level: "warning",
    harm: "whoever reaches it can stop Envoy, read its secrets' names and drain it",
    fix: "address: 127.0.0.1; for Prometheus a route to /stats/prometheus alone",
    *find(setup) {
      for (const bootstrap of setup.bootstraps) {
        const address = bootstrap.get("admin", "address", "socket_address", "address");
        if (address && ["0.0.0.0", "::", "[::]"].includes(address.text ?? ""))
          yield { at: address, what: `Envoy's admin port listens on ${address.text}` };
      }
    },
  },
  {
    id: "node-id",
    level: "warning",
    harm: "an Envoy that starts anew is not told which backends were open, and gateways can't be told apart",
    fix: "node: { id: …, cluster: … }, an id of its own for each Envoy (or --service-node)",
    *find(setup) {
      if (!setup.policies.some(({ serviceCluster }) => serviceCluster !== undefined)) return;
      for (const bootstrap of setup.bootstraps) {
        if (!bootstrap.textOf("node", "id"))
          yield {
            at: bootstrap.get("node") ?? bootstrap,
            what: "the policy names the service, and there is no node.id",
          };
      }
    },
  },
];

const MAX_TEXTS = 10_000;

function textsOf(node: Located): readonly Located[] {
  const found: Located[] = [];
  const seen = new Set<Located>();
  const todo = [node];
  for (let each = todo.pop(); each !== undefined && seen.size < MAX_TEXTS; each = todo.pop()) {
    if (seen.has(each)) continue;
    seen.add(each);
    if (each.text !== undefined) found.push(each);
    todo.push(...(each.isMap ? each.fields.values() : each.items));
  }
  return found;
}

import { z } from "zod";
import { breaker, breakerFaults } from "./breaker.js";
import { type Chain, chain } from "./chain.js";
import { amount, bytes, duration, field, flag, HOUR, MOST, text, whole } from "./fields.js";

/** Currency units. */
const MAX_AMOUNT = 1_000_000_000;
const MAX_WINDOW = 2_147_483_647;
const MAX_CHAINS = 255;
const MAX_CLASSES = 8;

/** In place of a chain's name: the model in the body decides. */
const BY_MODEL = "by-model";
const ALIAS_RULE = "must be 1 to 63 of a-z, A-Z, 0-9, - and _";
const CHAIN_RULE = "must be 1 to 63 printable characters, without quotes and backslashes, and not by-model";

const backend = z
  .strictObject({
    cluster: field(text, "The Envoy cluster that probes are sent through.", { shown: "the alias" }),
    contextWindow: field(
      whole(1, MAX_WINDOW),
      "Tokens. A prompt that can't fit takes the next tier; one that fits none takes the first, whose own error says it best. Above half of the chosen tier's window (by content-length / 3) the prompt is counted first.",
      { shown: "unknown", bounds: "≥ 1" },
    ),
    rewritesBody: field(flag, "The tier makes sense only with a rewritten body.", { default: false }),
    firstTokenTimeout: field(
      duration("100ms", HOUR),
      "Wait for this backend's first token. Before response headers Envoy knows one limit a request, the longest of the tiers that may follow: to cut servers that are silent before their headers, lower it on the later tiers too.",
      { shown: "the chain's" },
    ),
    maxConcurrentCalls: field(
      whole(1, MOST),
      "Calls in flight over all workers; above it the next tier is taken (counter `limited`). Envoy's `max_requests` above it is the hard limit. Workers that ask at the same moment may exceed it by one each.",
      { shown: "no limit", bounds: "≥ 1" },
    ),
    price: field(
      z.strictObject({ prompt: amount(MAX_AMOUNT).optional(), completion: amount(MAX_AMOUNT).optional() }),
      "`{prompt, completion}` per million tokens.",
      { shown: "none", bounds: "0–10⁹", isWhole: true },
    ),
    budgetPerDay: field(
      amount(MAX_AMOUNT),
      "In the price's currency. With a price it switches `costRateThreshold` on. Not a cap: nothing stops when the day's sum is spent. Answers without usage cost their estimated prompt and a token an event.",
      { shown: "none", bounds: "0–10⁹" },
    ),
    breaker: breaker.optional().meta({ isWhole: true }),
  })
  .superRefine(({ price = {}, budgetPerDay = 0 }, { addIssue }) => {
    const { prompt = 0, completion = 0 } = price;
    if (budgetPerDay > 0 && prompt + completion === 0)
      addIssue({
        code: "custom",
        path: ["budgetPerDay"],
        message: "needs a price: {prompt, completion} per million tokens",
      });
  });

const fields = z.strictObject({
  name: field(
    bytes(1, 63),
    "Names the policy in this process. Two listeners with different policies need different names.",
    { default: "default", bounds: "63 bytes" },
  ),
  chain: field(
    text,
    "The chain of every request, whatever its route; or `by-model`: the one that serves the model in its body. Spares a look at the route's metadata, the dearest thing the gate does. A route that is to pass the breaker untouched then [disables the gate](#routes-and-clusters).",
    { shown: "none: each route names its own", bounds: "one of `chains`, or `by-model`" },
  ),
  defaultChain: field(text, "By model, the chain of requests whose model no chain has, or is not known.", {
    shown: "none",
    bounds: "one of `chains`",
  }),
  service: z
    .strictObject({
      cluster: field(
        text,
        "Cluster of the service's HTTP port. When given, one worker asks it by `POST /v1/sync` each second, and a quarter of a second after a transition: it tells how the backends stand and hears of operators' modes, engines' signals and the group. Tiers with `rewritesBody` are skipped while it has been silent for 3 s.",
        { shown: "none" },
      ),
    })
    .optional(),
  shedClasses: field(
    z.array(bytes(1, 63), "must be a list").max(MAX_CLASSES, "must list at most 8 classes"),
    "Classes of routes (`class`, below) whose requests can wait: they pass over tiers with long queues.",
    { default: ["batch"], bounds: "≤ 8 texts of 1–63 bytes", isWhole: true },
  ),
  tracing: field(
    flag,
    "Tells Envoy's spans the tier, its backend's state, and which tiers were passed over: filter states `tier`, `state` and `passed-over`. See [traces](operations.md#traces).",
    { default: false },
  ),
  breaker: field(breaker, "Settings of every backend; a backend's own `breaker` goes over them.", {
    shown: "",
    isWhole: true,
  }),
  backends: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,63}$/, ALIAS_RULE),
      backend.meta({
        description: "A unit that is broken and recovered: one Envoy cluster, one model version.",
        bounds: "512 backends; 1–63 of `a-z A-Z 0-9 - _`",
      }),
    )
    .refine((given) => Object.keys(given).length > 0, "must name at least one backend")
    .refine((given) => Object.keys(given).length <= 512, "must name at most 512 backends"),
  chains: z
    .record(
      z
        .string()
        .regex(/^[^"\\]{1,63}$/, CHAIN_RULE)
        .refine(isChainName, CHAIN_RULE),
      chain.meta({
        description: "The ordered backends that may answer one kind of request.",
        bounds: "255 chains",
        isWhole: true,
      }),
    )
    .refine((given) => Object.keys(given).length > 0, "must name at least one chain")
    .refine((given) => Object.keys(given).length <= MAX_CHAINS, "must name at most 255 chains"),
});

type Fields = z.output<typeof fields>;

/** The whole policy, as the gate's `configuration` has it. What it takes the filter's own parser takes, and the other way round. */
export const policySchema = fields.superRefine((policy, { addIssue }) => {
  for (const { path, message } of faultsOf(policy)) addIssue({ code: "custom", path, message });
});

interface Fault {
  readonly path: PropertyKey[];
  readonly message: string;
}

/** What no field can tell by itself. */
function faultsOf(policy: Fields): Fault[] {
  const { breaker: shared, backends, chains, service } = policy;
  const faults: Fault[] = breakerFaults(shared ?? {}).map(below("breaker"));
  for (const [alias, { breaker: own }] of Object.entries(backends))
    if (own !== undefined)
      faults.push(...breakerFaults(own, shared).map(below("backends", alias, "breaker")));
  for (const key of ["chain", "defaultChain"] as const) {
    const name = policy[key];
    const isByModel = key === "chain" && name === BY_MODEL;
    if (name !== undefined && !isByModel && !Object.hasOwn(chains, name))
      faults.push({ path: [key], message: "must be one of chains" });
  }
  const models = new Map<string, string>();
  for (const [name, each] of Object.entries(chains)) {
    faults.push(...tierFaults(each, backends).map(below("chains", name)));
    faults.push(...modelFaults(each, name, models).map(below("chains", name)));
    if (service?.cluster === undefined) faults.push(...serviceFaults(each).map(below("chains", name)));
  }
  return faults;
}

/** `chain` says by-model instead of a name, in the policy or on a route; a name is told to callers inside JSON. */
function isChainName(name: string): boolean {
  return name !== BY_MODEL && [...name].every((character) => character >= " ");
}

function below(...path: string[]): (fault: Fault) => Fault {
  return (fault) => ({ path: [...path, ...fault.path], message: fault.message });
}

function tierFaults({ tiers }: Chain, backends: object): Fault[] {
  return tiers.flatMap((alias, index) => {
    const path = ["tiers", index];
    if (!Object.hasOwn(backends, alias))
      return [{ path, message: `must be one of ${Object.keys(backends).join(", ")}` }];
    return tiers.indexOf(alias) < index ? [{ path, message: `names "${alias}" twice` }] : [];
  });
}

/** A text that an earlier chain has would never be reached. */
function modelFaults({ models = [] }: Chain, name: string, owners: Map<string, string>): Fault[] {
  return models.flatMap((model, index) => {
    const owner = owners.get(model);
    owners.set(model, owner ?? name);
    return owner === undefined
      ? []
      : [{ path: ["models", index], message: `is already a model of chain ${owner}` }];
  });
}

/** What only the service can do would silently never be done. */
function serviceFaults({ limits, exhausted }: Chain): Fault[] {
  const faults: Fault[] = [];
  if (limits)
    faults.push({ path: ["limits"], message: "needs service.cluster: the service keeps the limits" });
  if (exhausted?.action === "fixed" || exhausted?.action === "cached")
    faults.push({
      path: ["exhausted", "action"],
      message: "needs service.cluster: the service gives such answers",
    });
  return faults;
}

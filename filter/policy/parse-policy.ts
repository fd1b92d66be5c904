import { Text } from "../host/text";
import { Fields, HOUR_MS, show } from "./fields";
import { Json, JsonKind, JsonParser } from "./json";
import { parseBreaker } from "./parse-breaker";
import { BY_MODEL, parseChains } from "./parse-chain";
import { Backend, Policy } from "./policy";

/** Prices are per this many tokens, so a price is millionths per token. */
const MILLION: f64 = 1000000;
/** The service hears of no more, and each takes Envoy's threads about a millisecond when the policy comes. */
const MAX_BACKENDS: i32 = 512;
const MAX_CLASSES: i32 = 8;
const MAX_CLASS_BYTES: i32 = 63;

/** Parses and checks a whole policy. Every fault is in `errors`, one sentence each; null when there is any. */
export function parsePolicy(source: string, hash: u64, errors: string[]): Policy | null {
  const parser = new JsonParser(source);
  const root = parser.parse();
  if (!root) {
    errors.push("policy is not JSON: " + parser.error);
    return null;
  }
  const fields = new Fields("", root, errors);
  const policy = new Policy(fields.text("name", "default"), hash);
  if (String.UTF8.byteLength(policy.name) > 63) fields.fault("name", "must be at most 63 bytes long");
  const shared = fields.find("breaker");
  parseBackends(fields, shared ? shared : new Json(JsonKind.OBJECT), policy);
  parseChains(fields, policy);
  policy.goesByModel = fields.text("chain", "") === BY_MODEL;
  if (!policy.goesByModel) policy.onlyChain = parseChainName(fields, "chain", policy);
  policy.defaultChain = parseChainName(fields, "defaultChain", policy);
  policy.shedClasses = parseShedClasses(fields);
  const isTraced = fields.flag("tracing", false);
  for (let i = 0; i < policy.chains.length; i++) policy.chains[i].isTraced = isTraced;
  const service = fields.object("service");
  const cluster = service.text("cluster", "");
  if (cluster.length) policy.serviceCluster = Text.of(cluster);
  service.close();
  if (!cluster.length) faultWithoutService(fields, policy);
  for (let i = 0; i < policy.backends.length; i++) {
    policy.backends[i].isAdvised = cluster.length > 0;
    // A VM may learn a policy with a canary: what the service told is known there with the next tick.
    policy.backends[i].breaker.isClosingHeld = cluster.length > 0;
  }
  fields.close();
  return errors.length ? null : policy;
}

/** The place of the chain that a field names; -1 when it names none. */
function parseChainName(fields: Fields, key: string, policy: Policy): i32 {
  const given = fields.text(key, "");
  if (given.length === 0) return -1;
  const name = Text.of(given);
  const at = policy.findChain(name.ptr, name.length);
  if (at < 0) fields.fault(key, 'must be one of chains, got "' + given + '"');
  return at;
}

function parseShedClasses(fields: Fields): Text[] {
  const items = fields.list("shedClasses");
  if (!fields.has("shedClasses")) return [Text.of("batch")];
  if (items.length > MAX_CLASSES) {
    fields.fault("shedClasses", "must list at most " + MAX_CLASSES.toString() + " classes");
  }
  const classes: Text[] = [];
  for (let i = 0; i < items.length; i++) {
    const length = String.UTF8.byteLength(items[i].text);
    if (items[i].kind === JsonKind.TEXT && length > 0 && length <= MAX_CLASS_BYTES) {
      classes.push(Text.of(items[i].text));
      continue;
    }
    const rule = "must be a route's class, a text of 1 to " + MAX_CLASS_BYTES.toString() + " bytes, got ";
    fields.fault("shedClasses[" + i.toString() + "]", rule + show(items[i]));
  }
  return classes;
}

/** What only the service can do would silently never be done. */
function faultWithoutService(fields: Fields, policy: Policy): void {
  for (let i = 0; i < policy.chains.length; i++) {
    const chain = policy.chains[i];
    const name = "chains." + chain.name + ".";
    if (chain.limits) fields.fault(name + "limits", "needs service.cluster: the service keeps the limits");
    if (chain.exhaustedOrder) {
      fields.fault(name + "exhausted.action", "needs service.cluster: the service gives such answers");
    }
  }
}

function parseBackends(fields: Fields, shared: Json, policy: Policy): void {
  const backends = fields.object("backends");
  if (backends.node.keys.length === 0) fields.fault("backends", "must name at least one backend");
  if (backends.node.keys.length > MAX_BACKENDS) {
    fields.fault("backends", "must name at most " + MAX_BACKENDS.toString() + " backends");
  }
  // Checked once by itself, so that a fault in the shared part is told once and not for each backend.
  parseBreaker(new Fields("breaker", shared, fields.errors), new Backend("breaker"));
  for (let i = 0; i < backends.node.keys.length; i++) {
    const alias = backends.node.keys[i];
    if (!isAlias(alias)) backends.fault(alias, "must be 1 to 63 of a-z, A-Z, 0-9, - and _");
    const entry = backends.object(alias);
    const backend = new Backend(alias);
    backend.cluster = Text.of(entry.text("cluster", alias));
    backend.contextWindow = entry.integer("contextWindow", 1, i32.MAX_VALUE, 0);
    backend.rewritesBody = entry.flag("rewritesBody", false);
    backend.firstTokenTimeoutMs = entry.duration("firstTokenTimeout", 100, HOUR_MS, 0);
    backend.maxConcurrentCalls = entry.integer("maxConcurrentCalls", 1, 1000000, 0);
    parsePrice(entry, backend);
    const own = entry.find("breaker");
    const ignored: string[] = [];
    parseBreaker(new Fields("breaker", shared, ignored), backend);
    if (own) parseBreaker(new Fields(entry.name("breaker"), own, fields.errors), backend);
    entry.close();
    backend.policyMode = backend.breaker.mode;
    policy.backends.push(backend);
  }
}

function parsePrice(fields: Fields, backend: Backend): void {
  const price = fields.object("price");
  backend.promptPrice = price.amount("prompt");
  backend.completionPrice = price.amount("completion");
  price.close();
  const budget = fields.amount("budgetPerDay");
  if (budget > 0 && backend.promptPrice + backend.completionPrice === 0) {
    fields.fault("budgetPerDay", "needs a price: {prompt, completion} per million tokens");
  }
  backend.breaker.costPerDay = <u64>(budget * MILLION);
}

function isAlias(alias: string): bool {
  if (alias.length === 0 || alias.length > 63) return false;
  for (let i = 0; i < alias.length; i++) {
    const c = alias.charCodeAt(i);
    const isLetter = (c | 0x20) >= 0x61 && (c | 0x20) <= 0x7a;
    const isDigit = c >= 0x30 && c <= 0x39;
    if (!isLetter && !isDigit && c !== 0x2d && c !== 0x5f) return false;
  }
  return true;
}

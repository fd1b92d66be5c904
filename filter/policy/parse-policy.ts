import { BreakerConfig, Stage } from "../breaker/config";
import { MAX_BUCKETS, MAX_PERMITS } from "../breaker/record";
import { Text } from "../host/text";
import { Fields } from "./fields";
import { Json, JsonKind, JsonParser, stringify } from "./json";
import { Backend, Canary, Chain, MAX_TIERS, Policy, Probe } from "./policy";

const HOUR_MS: u32 = 3600000;
const MAX_HOLD: i32 = 2064384; // listener limit 2 MiB less one 32 KiB read of the cluster's
const DEFAULT_PROBE_BODY = '{"messages":[{"role":"user","content":"hi"}],"max_tokens":1}';

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
  const only = fields.text("chain", "");
  if (only.length) {
    const name = Text.of(only);
    policy.onlyChain = policy.findChain(name.ptr, name.length);
    if (policy.onlyChain < 0) fields.fault("chain", 'must be one of chains, got "' + only + '"');
  }
  const service = fields.object("service");
  const cluster = service.text("cluster", "");
  if (cluster.length) policy.serviceCluster = Text.of(cluster);
  service.close();
  fields.close();
  return errors.length ? null : policy;
}

function parseBackends(fields: Fields, shared: Json, policy: Policy): void {
  const backends = fields.object("backends");
  if (backends.node.keys.length === 0) fields.fault("backends", "must name at least one backend");
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
    const own = entry.find("breaker");
    const ignored: string[] = [];
    parseBreaker(new Fields("breaker", shared, ignored), backend);
    if (own) parseBreaker(new Fields(entry.name("breaker"), own, fields.errors), backend);
    entry.close();
    policy.backends.push(backend);
  }
}

/** Reads breaker settings over what `backend` already has: first the shared part, then the backend's own. */
function parseBreaker(fields: Fields, backend: Backend): void {
  const config = backend.breaker;
  config.slidingWindowSize = fields.integer("slidingWindowSize", 1, MAX_BUCKETS, config.slidingWindowSize);
  config.minimumNumberOfCalls = fields.integer(
    "minimumNumberOfCalls",
    1,
    1000000,
    config.minimumNumberOfCalls,
  );
  config.failureRateThreshold = fields.integer("failureRateThreshold", 0, 100, config.failureRateThreshold);
  config.consecutiveFailuresThreshold = fields.integer(
    "consecutiveFailuresThreshold",
    0,
    1000000,
    config.consecutiveFailuresThreshold,
  );
  config.engineFatalEnabled = fields.flag("engineFatal", config.engineFatalEnabled);
  config.outOfMemoryThreshold = fields.integer("outOfMemoryThreshold", 0, 1000, config.outOfMemoryThreshold);
  config.waitDurationInOpenStateMs = fields.duration(
    "waitDurationInOpenState",
    100,
    HOUR_MS,
    config.waitDurationInOpenStateMs,
  );
  config.maxWaitDurationInOpenStateMs = fields.duration(
    "maxWaitDurationInOpenState",
    100,
    HOUR_MS,
    config.maxWaitDurationInOpenStateMs,
  );
  if (config.maxWaitDurationInOpenStateMs < config.waitDurationInOpenStateMs) {
    fields.fault("maxWaitDurationInOpenState", "must not be shorter than waitDurationInOpenState");
  }
  config.backoffResetAfterMs = fields.duration("backoffResetAfter", 0, HOUR_MS, config.backoffResetAfterMs);
  parseProbe(fields.object("probe"), backend.probe, config);
  parseCanary(fields.object("canary"), backend.canary, config);
  parseRamp(fields, config);
  fields.close();
}

function parseProbe(fields: Fields, probe: Probe, config: BreakerConfig): void {
  const path = fields.text("path", "");
  if (path.length && !path.startsWith("/")) fields.fault("path", "must start with /");
  if (path.length) probe.path = Text.of(path);
  const body = fields.find("body");
  if (body) probe.body = Text.of(stringify(body));
  else if (probe.body.length === 0) probe.body = Text.of(DEFAULT_PROBE_BODY);
  config.probeLeaseMs = fields.duration("lease", 500, HOUR_MS, config.probeLeaseMs);
  probe.firstTokenMaxMs = fields.duration("firstTokenMax", 100, HOUR_MS, probe.firstTokenMaxMs);
  if (probe.firstTokenMaxMs >= config.probeLeaseMs) {
    fields.fault("firstTokenMax", "must be shorter than lease, or a slow probe is never judged");
  }
  fields.close();
}

function parseCanary(fields: Fields, canary: Canary, config: BreakerConfig): void {
  canary.size = fields.choice("size", ["count", "estimate"], canary.size);
  canary.maxPromptTokens = fields.integer("maxPromptTokens", 1, 1000000, canary.maxPromptTokens);
  canary.maxOutputTokens = fields.integer("maxOutputTokens", 1, 1000000, canary.maxOutputTokens);
  config.canaryNoDrawAfterMs = fields.duration("noDrawAfter", 0, HOUR_MS, config.canaryNoDrawAfterMs);
  config.permitTimeoutMs = fields.duration("permitTimeout", 1000, HOUR_MS, config.permitTimeoutMs);
  canary.limits = Text.of(
    '{"maxPromptTokens":' +
      canary.maxPromptTokens.toString() +
      ',"maxOutputTokens":' +
      canary.maxOutputTokens.toString() +
      "}",
  );
  fields.close();
}

function parseRamp(fields: Fields, config: BreakerConfig): void {
  const ramp = fields.list("ramp");
  if (ramp.length === 0) return;
  if (ramp.length > 8) fields.fault("ramp", "must have at most 8 stages");
  const stages = new StaticArray<Stage>(ramp.length);
  for (let i = 0; i < ramp.length; i++) {
    const stage = new Fields(fields.name("ramp[" + i.toString() + "]"), ramp[i], fields.errors);
    const percent = stage.integer("percent", 1, 100, 5);
    const maxConcurrent = stage.integer("maxConcurrent", 1, MAX_PERMITS, 2);
    stages[i] = new Stage(percent, maxConcurrent, stage.integer("successes", 1, 1000000, 5));
    stage.close();
  }
  config.stages = stages;
}

function parseChains(fields: Fields, policy: Policy): void {
  const chains = fields.object("chains");
  if (chains.node.keys.length === 0) fields.fault("chains", "must name at least one chain");
  if (chains.node.keys.length > 255) fields.fault("chains", "must name at most 255 chains");
  for (let i = 0; i < chains.node.keys.length; i++) {
    const name = chains.node.keys[i];
    const chain = new Chain(name);
    parseChain(chains.object(name), chain, policy);
    policy.chains.push(chain);
  }
}

function parseChain(fields: Fields, chain: Chain, policy: Policy): void {
  chain.tiers = parseTiers(fields, policy);
  chain.maxAttempts = fields.integer("maxAttempts", 1, 16, chain.maxAttempts);
  chain.sameTierRetries = fields.integer("sameTierRetries", 0, 1, chain.sameTierRetries);
  chain.commit = fields.choice("commit", ["firstToken", "complete"], chain.commit);
  chain.peek = fields.flag("peek", chain.peek);
  if (!chain.peek && chain.maxAttempts > 1) {
    fields.fault("peek", "must be true when maxAttempts is above 1: limits count from the request's end");
  }
  chain.naming = fields.choice("routing", ["named", "fixed"], 0) === 0;
  if (!chain.naming && chain.tiers.length > 1)
    fields.fault("routing", "must be named when there are several tiers");
  chain.answerHeaders = fields.flag("answerHeaders", chain.answerHeaders);
  chain.holdLimit = fields.integer("holdLimit", 1024, MAX_HOLD, chain.holdLimit);
  chain.firstTokenTimeoutMs = fields.duration("firstTokenTimeout", 100, HOUR_MS, chain.firstTokenTimeoutMs);
  chain.firstTokenTimeoutPerPromptTokenMs = fields.duration(
    "firstTokenTimeoutPerPromptToken",
    0,
    60000,
    chain.firstTokenTimeoutPerPromptTokenMs,
  );
  chain.answerTimeoutMs = fields.duration("answerTimeout", 100, HOUR_MS, chain.answerTimeoutMs);
  chain.stallTimeoutMs = fields.duration("stallTimeout", 500, HOUR_MS, chain.stallTimeoutMs);
  chain.attemptsDeadlineMs = fields.duration(
    "attemptsDeadline",
    100,
    2 * HOUR_MS,
    chain.answerTimeoutMs + 60000,
  );
  const exhausted = fields.object("exhausted");
  chain.exhausted = exhausted.choice("action", ["reply", "bypass"], chain.exhausted);
  chain.exhaustedStatus = exhausted.integer("status", 400, 599, chain.exhaustedStatus);
  exhausted.close();
  fields.close();
}

function parseTiers(fields: Fields, policy: Policy): StaticArray<Backend> {
  const items = fields.list("tiers");
  const tiers: Backend[] = [];
  if (items.length === 0 || items.length > MAX_TIERS) {
    fields.fault("tiers", "must list 1 to " + MAX_TIERS.toString() + " backends");
  }
  for (let i = 0; i < items.length; i++) {
    const alias = Text.of(items[i].text);
    const backend = policy.findBackend(alias.ptr, alias.length);
    const name = "tiers[" + i.toString() + "]";
    if (!backend) fields.fault(name, 'must be one of backends, got "' + items[i].text + '"');
    else if (tiers.includes(backend)) fields.fault(name, 'names "' + backend.alias + '" twice');
    else tiers.push(backend);
  }
  return StaticArray.fromArray<Backend>(tiers);
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

import { Text } from "../host/text";
import { Fields, HOUR_MS } from "./fields";
import { parseExhausted } from "./parse-exhausted";
import { parseModels } from "./parse-models";
import { Backend, Chain, MAX_TIERS, Policy } from "./policy";

/** What a route names instead of a chain, to have the chain chosen by the model in the body. */
export const BY_MODEL = "by-model";

const MAX_HOLD: i32 = 2064384; // listener limit 2 MiB less one 32 KiB read of the cluster's

export function parseChains(fields: Fields, policy: Policy): void {
  const chains = fields.object("chains");
  if (chains.node.keys.length === 0) fields.fault("chains", "must name at least one chain");
  if (chains.node.keys.length > 255) fields.fault("chains", "must name at most 255 chains");
  for (let i = 0; i < chains.node.keys.length; i++) {
    const name = chains.node.keys[i];
    if (!isPrintable(name))
      chains.fault(name, "must be 1 to 63 printable characters, without quotes and backslashes");
    if (name === BY_MODEL)
      chains.fault(name, "is not for a chain: a route says so to have its chain chosen by the model");
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
  chain.lastTierFirstTokenTimeoutMs = fields.duration("lastTierFirstTokenTimeout", 100, HOUR_MS, 0);
  chain.answerTimeoutMs = fields.duration("answerTimeout", 100, HOUR_MS, chain.answerTimeoutMs);
  chain.stallTimeoutMs = fields.duration("stallTimeout", 500, HOUR_MS, chain.stallTimeoutMs);
  chain.attemptsDeadlineMs = fields.duration(
    "attemptsDeadline",
    100,
    2 * HOUR_MS,
    chain.answerTimeoutMs + 60000,
  );
  parseExhausted(fields.object("exhausted"), chain);
  chain.limits = fields.flag("limits", chain.limits);
  parseModels(fields, chain, policy);
  fields.close();
}

function parseTiers(fields: Fields, policy: Policy): StaticArray<Backend> {
  const items = fields.list("tiers");
  const tiers: Backend[] = [];
  const aliases: string[] = [];
  for (let i = 0; i < policy.backends.length; i++) aliases.push(policy.backends[i].alias);
  if (items.length === 0 || items.length > MAX_TIERS) {
    fields.fault("tiers", "must list 1 to " + MAX_TIERS.toString() + " backends");
  }
  for (let i = 0; i < items.length; i++) {
    const alias = Text.of(items[i].text);
    const backend = policy.findBackend(alias.ptr, alias.length);
    const name = "tiers[" + i.toString() + "]";
    if (!backend)
      fields.fault(name, "must be one of " + aliases.join(", ") + ', got "' + items[i].text + '"');
    else if (tiers.includes(backend)) fields.fault(name, 'names "' + backend.alias + '" twice');
    else tiers.push(backend);
  }
  return StaticArray.fromArray<Backend>(tiers);
}

/** A chain's name is told to callers, inside JSON. */
function isPrintable(name: string): bool {
  if (name.length === 0 || name.length > 63) return false;
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if (c < 0x20 || c === 0x22 || c === 0x5c) return false;
  }
  return true;
}

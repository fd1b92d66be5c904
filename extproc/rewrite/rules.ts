import type { Attributes } from "../attributes.js";

/** What a backend's cluster metadata asks of a body. Nothing set: the body passes. */
export interface RewriteRules {
  /** The backend's own name of its model. */
  model?: string;
  /** Cap on the tokens of one answer. */
  maxOutputTokens?: number;
}

/**
 * Envoy evaluates each request attribute as an expression and names its value by the text of that expression, so
 * both spellings of the last step are accepted. A key that the cluster does not have is not sent at all.
 */
function readKey(attributes: Attributes, key: string): string | undefined {
  const metadata = "xds.cluster_metadata.filter_metadata['llm.breaker']";
  return attributes.get(`${metadata}.${key}`) ?? attributes.get(`${metadata}['${key}']`);
}

/**
 * The rules of the attempt's own cluster, which after a retry is the new cluster.
 * A cap that is no positive whole number is no cap; `hasBadCap` tells so that it can be logged.
 */
export function readRules(attributes: Attributes): { rules: RewriteRules; hasBadCap: boolean } {
  const rules: RewriteRules = {};
  const model = readKey(attributes, "model");
  if (model) rules.model = model;
  const cap = readKey(attributes, "maxOutputTokens");
  if (cap === undefined) return { rules, hasBadCap: false };
  if (!/^[1-9]\d{0,8}$/.test(cap)) return { rules, hasBadCap: true };
  rules.maxOutputTokens = Number(cap);
  return { rules, hasBadCap: false };
}

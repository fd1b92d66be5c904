import type { Attributes } from "../attributes.js";
import { readMetadataText } from "./metadata-text.js";

/** What a backend's cluster metadata asks of a body. Nothing set: the body passes. */
export interface RewriteRules {
  /** The backend's own name of its model. */
  model?: string;
  /** Cap on the tokens of one answer. */
  maxOutputTokens?: number;
}

const NAMESPACE = "llm.breaker";
const WHOLE_METADATA = "xds.cluster_metadata";

type Lookup = (key: string) => string | undefined;

/**
 * Envoy names an attribute's value by the expression that asked for it. Asked for key by key, values come as they
 * are and a key that the cluster does not have is not sent; asked for as a whole, the metadata comes as protobuf text.
 */
function lookupIn(attributes: Attributes): Lookup {
  const path = `${WHOLE_METADATA}.filter_metadata['${NAMESPACE}']`;
  const text = attributes.get(WHOLE_METADATA);
  const whole = text === undefined ? undefined : readMetadataText(text, NAMESPACE);
  return (key) => attributes.get(`${path}.${key}`) ?? attributes.get(`${path}['${key}']`) ?? whole?.get(key);
}

/**
 * The rules of the attempt's own cluster, which after a retry is the new cluster.
 * A cap that is no positive whole number is no cap; `hasBadCap` tells so that it can be logged.
 */
export function readRules(attributes: Attributes): { rules: RewriteRules; hasBadCap: boolean } {
  const lookup = lookupIn(attributes);
  const rules: RewriteRules = {};
  const model = lookup("model");
  if (model) rules.model = model;
  const cap = lookup("maxOutputTokens");
  if (cap === undefined) return { rules, hasBadCap: false };
  if (!/^[1-9]\d{0,8}$/.test(cap)) return { rules, hasBadCap: true };
  rules.maxOutputTokens = Number(cap);
  return { rules, hasBadCap: false };
}

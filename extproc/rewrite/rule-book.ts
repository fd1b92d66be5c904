import type { Attributes } from "../attributes.js";
import { readMetadataText } from "./metadata-text.js";
import { type ClusterRules, type RewriteRules, readRules } from "./rules.js";

const NAMESPACE = "llm.breaker";
const METADATA_ATTRIBUTE = "xds.cluster_metadata";
/** Written by the meter at the attempt's start. */
const DEGRADE_ATTRIBUTE = "filter_state['wasm.llm.breaker.degrade']";
const DEGRADED: readonly (string | undefined)[] = ["half-open", "queue"];

/** Far more clusters than a gateway rewrites for; a text changes with each push of its cluster. */
const MAX_TEXTS = 256;

/**
 * The rules of each attempt's own cluster, which after a retry is the new cluster. Envoy sends a cluster's metadata as
 * one text, so each text is read once.
 */
export class RuleBook {
  private readonly byText = new Map<string, ClusterRules>();

  /** `warn` is told once of each thing that is wrong in a text. */
  constructor(private readonly warn: (problem: string) => void) {}

  rulesFor(attributes: Attributes): RewriteRules {
    const { usual, degraded } = this.read(attributes.get(METADATA_ATTRIBUTE));
    return DEGRADED.includes(attributes.get(DEGRADE_ATTRIBUTE)) ? degraded : usual;
  }

  private read(text = ""): ClusterRules {
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    if (this.byText.size >= MAX_TEXTS) this.byText.clear();
    const rules = readRules(readMetadataText(text, NAMESPACE));
    this.byText.set(text, rules);
    if (text === "")
      this.warn(`rewrite got no cluster metadata: request_attributes must name ${METADATA_ATTRIBUTE}`);
    for (const problem of rules.problems) this.warn(problem);
    return rules;
  }
}

import type { WireStruct, WireValue } from "../messages.js";
import type { RequestFacts } from "./facts.js";

/** The namespace that Envoy's `receiving_namespaces` must name, or the metadata is dropped. */
export const METADATA_NAMESPACE = "llm.breaker";

/**
 * Facts and verdict as the Struct that later filters read, `texts` beside them. `promptTokens` is absent when unknown,
 * `outputTokens` when unlimited or odd, `model` when the body names none.
 */
export function toDynamicMetadata(
  facts: RequestFacts,
  canary: boolean,
  texts: Readonly<Record<string, string>> = {},
): WireStruct {
  const fields: Record<string, WireValue> = {
    exact: { boolValue: facts.exact },
    stream: { boolValue: facts.stream },
    images: { numberValue: facts.media.images },
    audio: { numberValue: facts.media.audio },
    canary: { boolValue: canary },
  };
  const outputTokens = outputTokensOf(facts);
  if (facts.promptTokens !== undefined) fields.promptTokens = { numberValue: facts.promptTokens };
  if (outputTokens !== undefined) fields.outputTokens = { numberValue: outputTokens };
  // Half a surrogate pair is no UTF-8; protobuf strings must be.
  if (facts.model !== undefined) fields.model = { stringValue: Buffer.from(facts.model).toString() };
  for (const [name, text] of Object.entries(texts)) fields[name] = { stringValue: text };
  return { fields: { [METADATA_NAMESPACE]: { structValue: { fields } } } };
}

/** What all answers together may have; undefined when nobody said, or said so that it can't be told. */
export function outputTokensOf({ output }: RequestFacts): number | undefined {
  return output.kind === "limited" ? output.answers * output.tokensEach : undefined;
}

import { z } from "zod";
import type { Attributes } from "../attributes.js";

/** The expression in `request_attributes` that brings the gate's canary limits. */
export const CANARY_ATTRIBUTE = "filter_state['wasm.llm.breaker.canary']";

const schema = z.object({ maxPromptTokens: z.int().min(0), maxOutputTokens: z.int().min(0) });

/** What a request may cost to be a canary. Tokens. */
export type CanaryLimits = Readonly<z.output<typeof schema>>;

/** Undefined when the gate asked for no canary, or for one in terms we don't understand: then nothing is one. */
export function readCanaryLimits(attributes: Attributes): CanaryLimits | undefined {
  const text = attributes.get(CANARY_ATTRIBUTE);
  if (!text) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

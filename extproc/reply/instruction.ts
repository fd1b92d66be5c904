import { z } from "zod";
import type { Attributes } from "../attributes.js";

/** The expression in `request_attributes` that brings what the gate wants answered. */
export const REPLY_ATTRIBUTE = "filter_state['wasm.llm.breaker.reply']";

const instruction = z.discriminatedUnion("action", [
  z.object({
    action: z.literal("fixed"),
    status: z.int().min(200).max(599),
    text: z.string().max(2000),
  }),
  z.object({ action: z.literal("cached"), maxAgeSeconds: z.number().min(0) }),
]);

/** What a chain answers when none of its tiers can. */
export type Instruction = Readonly<z.output<typeof instruction>>;

/** Whether the gate asks for an answer, and no count. */
export function isReplyAsked(attributes: Attributes): boolean {
  return (attributes.get(REPLY_ATTRIBUTE) ?? "") !== "";
}

/** Undefined for one in terms that we don't understand: the gate's own error is the answer then. */
export function readInstruction(attributes: Attributes): Instruction | undefined {
  try {
    return instruction.safeParse(JSON.parse(attributes.get(REPLY_ATTRIBUTE) ?? "")).data;
  } catch {
    return undefined;
  }
}

/** How a chat may be spelled for an operator's own vocabulary: Qwen3's template, OpenAI's rule, a generous flat cost. */
export const TEMPLATE_NAMES = ["chatml", "openai", "plain"] as const;

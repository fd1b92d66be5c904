/** Policies that between them have everything a target has to write. */
export const POLICIES: Readonly<Record<string, string>> = {
  "one backend": `
name: one
backends: { gpu: { url: "http://vllm.llm.svc:8000" } }
chains: { chat: { tiers: [gpu] } }
`,
  "everything the service does": `
name: chat
backends:
  gpu: { url: "http://vllm-70b.llm.svc:8000", contextWindow: 32768 }
  small: { url: "http://10.0.0.7:8000", model: qwen3-4b, maxOutputTokens: 1024, degradedMaxOutputTokens: 512 }
  weak: { url: "http://vllm-8b:8000", degradedMaxOutputTokens: 512 }
  public: { url: "https://api.example.com/v1", model: gpt-4o-mini, keyFile: /etc/llm-breaker/public-key.yaml }
defaultChain: chat
chains:
  chat: { models: [qwen3-32b], tiers: [gpu, weak, small, public], limits: true, exhausted: { action: cached } }
  small: { models: [qwen3-4b], tiers: [small, public] }
`,
  "keys, prefixes and a fixed route": `
name: keys
backends:
  gpu: { url: "http://vllm.llm.svc:8000", http2: true }
  azure: { url: "https://name.openai.azure.com", pathPrefix: /openai/deployments/d, keyFile: /etc/keys/azure.yaml, keyHeader: api-key }
  claude: { url: "https://api.anthropic.com", dialect: anthropic, model: claude, keyFile: /etc/keys/claude.yaml, keyHeader: x-api-key }
defaultChain: chat
chains:
  chat: { tiers: [gpu, azure, claude], maxAttempts: 4 }
  embeddings: { tiers: [gpu], prefix: /v1/embeddings, routing: fixed, maxAttempts: 1 }
`,
};

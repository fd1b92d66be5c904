/** Counts the prompt tokens of a parsed request body. */
export type CountPromptTokens = (body: ChatBody) => Promise<number>;

/** What the fleet reads of a chat or completion request; everything else is ignored, as engines do. */
export interface ChatBody {
  readonly model?: string;
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[];
  readonly prompt?: unknown;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly user?: string;
}

/** How fast a backend answers. Every figure gets `jitter` (a fraction of it, seeded). */
export interface Pace {
  /** From the request's last byte to the first token, for an empty prompt. */
  readonly firstTokenMs: number;
  /** Added to the first token's time per prompt token. */
  readonly prefillMsPerToken: number;
  readonly tokenGapMs: number;
  readonly jitter: number;
  /** Answer lengths are drawn from [min, max] tokens, and then cut at the request's max_tokens. */
  readonly answerTokens: readonly [number, number];
}

export interface BackendSettings {
  readonly name: string;
  readonly model: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly pace: Pace;
  /** Requests above this number wait, and show as `vllm:num_requests_waiting`. */
  readonly maxRunning: number;
  /** Tokens that fit the KV cache; the gauge is running tokens over it. */
  readonly kvCacheTokens: number;
  /** When set, requests need `Authorization: Bearer <key>`, as a public API does. */
  readonly key?: string;
}

const GPU_PACE: Pace = {
  firstTokenMs: 90,
  prefillMsPerToken: 0.05,
  tokenGapMs: 12,
  jitter: 0.25,
  answerTokens: [12, 72],
};
const SMALL_PACE: Pace = { ...GPU_PACE, firstTokenMs: 60, tokenGapMs: 8 };
const PUBLIC_PACE: Pace = { ...GPU_PACE, firstTokenMs: 250, tokenGapMs: 15 };

/** The public backend's own key in the demo. It guards nothing: it exists so that a leaked caller key can be told from it. */
export const DEMO_PUBLIC_KEY = "demo-public-api-key";

/** The demo's three backends, in the order of the chain's tiers. */
export function demoBackends(
  ports: readonly [number, number, number] = [9101, 9102, 9103],
): BackendSettings[] {
  const limits = { maxRunning: 64, kvCacheTokens: 200_000 };
  return [
    { name: "gpu", model: "qwen3-32b", port: ports[0], pace: GPU_PACE, ...limits },
    { name: "small", model: "qwen3-4b", port: ports[1], pace: SMALL_PACE, ...limits },
    {
      name: "public",
      model: "gpt-4o-mini",
      port: ports[2],
      pace: PUBLIC_PACE,
      maxRunning: 1000,
      kvCacheTokens: 2_000_000,
      key: DEMO_PUBLIC_KEY,
    },
  ];
}

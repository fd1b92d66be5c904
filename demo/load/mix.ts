import { between, type Random } from "../random.js";

/** One request of the mix, ready to be sent. */
export interface Call {
  readonly id: string;
  readonly path: string;
  readonly body: string;
  readonly streamed: boolean;
  readonly long: boolean;
  /** The caller's own credential; it must never reach a backend that has a key of its own. */
  readonly credential: string;
}

/** How the mix is made up. Words become about 1.3 tokens each. */
export interface Mix {
  readonly model: string;
  readonly shortWords: readonly [number, number];
  readonly longWords: readonly [number, number];
  /** Shares, 0..1. */
  readonly longShare: number;
  readonly streamedShare: number;
  readonly completionsShare: number;
  /** One is drawn per request; 0 leaves max_tokens out. */
  readonly maxTokens: readonly number[];
}

export const DEMO_MIX: Mix = {
  model: "qwen3-32b",
  shortWords: [6, 60],
  // Some are too long for the second tier's window: while the first is away the public API answers those.
  longWords: [900, 9000],
  longShare: 0.3,
  streamedShare: 0.6,
  completionsShare: 0.1,
  maxTokens: [16, 32, 64, 128, 0],
};

const VOCABULARY =
  "outage backend token stream latency prompt cache model fleet window probe canary engine memory batch queue request answer caller retry gateway cluster signal recovery budget tier healthy degraded bucket failure threshold".split(
    " ",
  );

function text(random: Random, words: number): string {
  const start = between(random, 0, VOCABULARY.length - 1);
  const stride = between(random, 1, 7);
  return Array.from(
    { length: words },
    (_, index) => VOCABULARY[(start + index * stride) % VOCABULARY.length],
  ).join(" ");
}

/** Draws the next request of the mix. */
export function nextCall(random: Random, mix: Mix, index: number): Call {
  const id = `call-${index}`;
  const long = random() < mix.longShare;
  const streamed = random() < mix.streamedShare;
  const completion = random() < mix.completionsShare;
  const prompt = `Explain: ${text(random, between(random, ...(long ? mix.longWords : mix.shortWords)))}`;
  const maxTokens = mix.maxTokens[between(random, 0, mix.maxTokens.length - 1)] ?? 0;
  const body = {
    model: mix.model,
    ...(completion ? { prompt } : { messages: [{ role: "user", content: prompt }] }),
    ...(maxTokens === 0 ? {} : { max_tokens: maxTokens }),
    ...(streamed ? { stream: true } : {}),
    // The fleet logs this field, so a caller's record and its attempts at the backends can be put together.
    user: id,
  };
  return {
    id,
    path: completion ? "/v1/completions" : "/v1/chat/completions",
    body: JSON.stringify(body),
    streamed,
    long,
    credential: `caller-${between(random, 1000, 9999)}-${index}`,
  };
}

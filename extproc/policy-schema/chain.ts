import { z } from "zod";
import { bytes, duration, field, flag, HOUR, whole } from "./fields.js";

const MAX_TIERS = 8;
const MAX_MODELS = 32;
const MAX_MODEL_BYTES = 128;
/** The listener's limit of 2 MiB less one read of 32 KiB. */
const MAX_HOLD = 2_064_384;
const MAX_TEXT_BYTES = 2000;

const exhausted = z
  .strictObject({
    action: field(
      z.enum(["reply", "bypass", "fixed", "cached"]),
      "No tier permitted: a JSON error with Retry-After; the first tier all the same; a text of yours; the caller's last good answer. The last two are the service's to give, to POSTs with a body; what it has none for, and everybody while it is away, gets the JSON error. So does a request that was drawn to be a canary and is none.",
      { default: "reply" },
    ),
    status: field(
      whole(200, 599),
      "Status of the JSON error; of `fixed` that of the text (its error is 503).",
      {
        shown: "`503`, of `fixed` `200`",
        bounds: "400–599, of `fixed` 200–599",
      },
    ),
    text: field(bytes(1, MAX_TEXT_BYTES), "What `fixed` says.", { bounds: "≤ 2000 bytes" }),
    maxAge: field(duration("1s", "24h"), "An older answer is not given by `cached`.", { default: "10m" }),
  })
  .superRefine(({ action, status = 503, text, maxAge }, { addIssue }) => {
    const refuse = (name: string, message: string) => addIssue({ code: "custom", path: [name], message });
    if (action === "fixed" && text === undefined) refuse("text", "is missing: what the fixed answer says");
    if (action !== "fixed" && text !== undefined) refuse("text", "is only for the action fixed");
    if (action !== "fixed" && status < 400) refuse("status", "must be a whole number from 400 to 599");
    if (action !== "cached" && maxAge !== undefined) refuse("maxAge", "is only for the action cached");
  });

/** Its tiers and models are checked where backends and other chains are known. */
export const chain = z
  .strictObject({
    tiers: z
      .array(z.string("must be a backend's alias"), "must list 1 to 8 backends")
      .min(1, "must list 1 to 8 backends")
      .max(MAX_TIERS, "must list 1 to 8 backends")
      .meta({
        description: "Backends in order of preference.",
        shown: "",
        bounds: "1–8, each once",
        isWhole: true,
      }),
    maxAttempts: field(
      whole(1, 16),
      "Attempts of one request; below tiers + `sameTierRetries` the last tiers may never be asked. `1`: nothing is held or retried. The route's `num_retries` must be the same number (with `1`: `0`); where a route has several chains (`by-model`), the largest.",
      { default: 4, bounds: "1–16" },
    ),
    sameTierRetries: field(
      whole(0, 1),
      "One more try a request on the same, still Closed backend: after a plain 5xx or reset, and after a 429 or 503 whose Retry-After is at most 3 s. The caller then waits that long and up to half as long again. `0`: the next tier at once.",
      { default: 1, bounds: "0–1" },
    ),
    commit: field(
      z.enum(["firstToken", "complete"]),
      "How much of a stream is held before the caller sees any: until its first token, or all of it (up to 1 MiB; beyond that it goes on unheld). Then `answerTimeout` bounds the whole stream: set it, and the route's `per_try_timeout`, above your longest answer, or healthy long ones count as failures. No effect with `maxAttempts` 1.",
      { default: "firstToken" },
    ),
    routing: field(
      z.enum(["named", "fixed"]),
      "`fixed`: the route names its cluster itself (one tier only), so the filter does not name it.",
      { default: "named" },
    ),
    peek: field(flag, "Reads `stream`, `model`, `max_tokens` and `n` as the body passes.", {
      default: true,
      bounds: "`false` only with `maxAttempts` 1",
    }),
    holdLimit: field(
      whole(1024, MAX_HOLD),
      "Bytes of an answer in one piece that are held. `holdLimit` + the cluster's buffer limit ≤ the listener's.",
      { default: 262144, bounds: "1 KiB–1.97 MiB" },
    ),
    firstTokenTimeout: field(duration("100ms", HOUR), "Wait for a stream's first token …", {
      default: "10s",
    }),
    firstTokenTimeoutPerPromptToken: field(
      duration("0s", "60s"),
      "… plus this for each token of the prompt; at most `answerTimeout`.",
      { default: "2ms" },
    ),
    lastTierFirstTokenTimeout: field(
      duration("100ms", HOUR),
      "In place of both on the last tier, where nobody is left to ask; at most `answerTimeout`. A request that another tier failed before still has Envoy's one limit for all its attempts.",
      { shown: "as on the others" },
    ),
    answerTimeout: field(
      duration("100ms", HOUR),
      "Wait for an answer in one piece. The route's `per_try_timeout` must say the same.",
      { default: "120s" },
    ),
    stallTimeout: field(
      duration("500ms", HOUR),
      "Silence between bytes that ends an attempt. When more than 1 MiB may still wait for a slow reader, `answerTimeout` does, and it is nobody's failure.",
      { default: "30s" },
    ),
    attemptsDeadline: field(duration("100ms", "2h"), "No attempt starts later than this.", {
      shown: "`answerTimeout` + 60s",
    }),
    answerHeaders: field(
      flag,
      "Answers carry `x-llm-breaker-backend`, `x-llm-breaker-attempts` and, after failures, `x-llm-breaker-tried`.",
      { default: true },
    ),
    models: field(
      z
        .array(bytes(1, MAX_MODEL_BYTES), "must be a list")
        .max(MAX_MODELS, "must list at most 32 names or patterns"),
      'The models that the chain serves where it is chosen `by-model`: `"qwen3-32b"`, `"qwen3-*"` (`*` is any text, the rest is literal, letter case counts). A name goes before every pattern; of the patterns the first in the policy that fits wins.',
      { shown: "none", bounds: "≤ 32 texts of 1–128 bytes", isWhole: true },
    ),
    limits: field(
      flag,
      "Every POST with a body goes to the service first, which keeps the callers' limits. Refusals of tiers that are Open come before that. While the service is away nobody is limited.",
      { default: false, bounds: "needs `service.cluster`" },
    ),
    exhausted: exhausted.optional(),
  })
  .superRefine(({ peek, maxAttempts = 4, routing, tiers }, { addIssue }) => {
    const refuse = (name: string, message: string) => addIssue({ code: "custom", path: [name], message });
    if (peek === false && maxAttempts > 1) refuse("peek", "must be true when maxAttempts is above 1");
    if (routing === "fixed" && tiers.length > 1)
      refuse("routing", "must be named when there are several tiers");
  });

export type Chain = z.output<typeof chain>;

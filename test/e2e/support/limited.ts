import { type Answer, send } from "../../support/client.js";
import { waitFor } from "../../support/wait-for.js";
import { neverOpen, type Rig, type RigSettings, startRig } from "./rig.js";
import { chainOf } from "./shipped-config.js";

/** One chain with limits, whose service keeps these. */
export async function startLimited(
  limits: Readonly<Record<string, unknown>>,
  settings: RigSettings = {},
): Promise<Rig> {
  const rig = await startRig({
    ...settings,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(chainOf(policy), { limits: true, sameTierRetries: 0 });
      settings.policy?.(policy);
    },
    serviceConfig: { limits: { headroom: 1, ...limits } },
  });
  // Nothing is limited before the gate has heard that the service is there.
  const probe = { caller: "first", outputTokens: 1 };
  await waitFor(async () => remainingOf(await ask(rig, probe)) !== undefined, 10_000, "a limited answer");
  rig.reset();
  return rig;
}

/** Prompt tokens of `ask`: counted, and bounded where a busy machine takes too long to count. */
export const LEAST_PROMPT = 8;
export const MOST_PROMPT = 100;

interface Asking {
  /** The key he sends. */
  readonly caller: string;
  readonly outputTokens: number;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly leaveAfterMs?: number;
}

/** A chat of a few words. */
export function ask(rig: Rig, asking: Asking): Promise<Answer> {
  const { caller, outputTokens, stream = false, headers, leaveAfterMs } = asking;
  const messages = [{ role: "user", content: "Say hello." }];
  return send(`${rig.url}/v1/chat/completions`, {
    headers: { "content-type": "application/json", authorization: `Bearer ${caller}`, ...headers },
    body: JSON.stringify({ model: "qwen3-32b", stream, messages, max_tokens: outputTokens }),
    ...(leaveAfterMs !== undefined && { leaveAfterMs }),
  });
}

/** Of requests at once: how many passed, and how many tokens they were given together of a limit. All others are 429. */
export function passedOf(answers: readonly Answer[], limit: number): { passed: number; given: number } {
  const passed = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  if (passed.length + refused.length < answers.length) {
    throw new Error(`statuses ${[...new Set(answers.map(({ status }) => status))].join(", ")}`);
  }
  const given = limit - Math.min(...passed.map((answer) => remainingOf(answer) ?? Number.NaN));
  return { passed: passed.length, given };
}

/** Tokens that an answer says its caller has left; undefined when it tells of no limit. */
export function remainingOf({ headers }: Answer): number | undefined {
  const text = headers["x-ratelimit-remaining-tokens"];
  return text === undefined ? undefined : Number(text);
}

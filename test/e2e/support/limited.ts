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

interface Asking {
  /** The key he sends. */
  readonly caller: string;
  readonly outputTokens: number;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly leaveAfterMs?: number;
}

/** A chat of 8 to 12 prompt tokens. */
export function ask(rig: Rig, asking: Asking): Promise<Answer> {
  const { caller, outputTokens, stream = false, headers, leaveAfterMs } = asking;
  const messages = [{ role: "user", content: "Say hello." }];
  return send(`${rig.url}/v1/chat/completions`, {
    headers: { "content-type": "application/json", authorization: `Bearer ${caller}`, ...headers },
    body: JSON.stringify({ model: "qwen3-32b", stream, messages, max_tokens: outputTokens }),
    ...(leaveAfterMs !== undefined && { leaveAfterMs }),
  });
}

/** Tokens that an answer says its caller has left; undefined when it tells of no limit. */
export function remainingOf({ headers }: Answer): number | undefined {
  const text = headers["x-ratelimit-remaining-tokens"];
  return text === undefined ? undefined : Number(text);
}

import { chat } from "../test/support/client.js";
import type { RunningEnvoy } from "../test/support/envoy.js";
import { waitFor } from "../test/support/wait-for.js";
import type { DirectAnswer } from "./configs.js";
import { answerHeader } from "./load/answers.js";

const openedTimeoutMs = 30_000;

/** Lets every tier fail with a fatal engine error until the chain refuses; returns the refusal. */
export async function openAll(envoy: RunningEnvoy, clients: number): Promise<DirectAnswer> {
  return await waitFor(
    async () => {
      const answer = await chat(envoy.url(clients), { headers: { [answerHeader]: "dead" } });
      if (answer.headers["x-llm-breaker-reason"] !== "exhausted") return undefined;
      const kept = ["content-type", "x-llm-breaker-reason", "retry-after"];
      const pairs = kept.map((name) => [name, String(answer.headers[name])]);
      return { status: answer.status, headers: Object.fromEntries(pairs), body: answer.text };
    },
    openedTimeoutMs,
    "a chain with all tiers Open",
  );
}

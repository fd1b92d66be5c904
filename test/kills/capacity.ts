import { type Answer, chat } from "../support/client.js";
import { mostCalls } from "./gateway-config.js";
import type { Gateway } from "./system.js";

const lastingTokens = 250;
const beyond = 8;

export interface Capacity {
  /** Of so many calls at once as gpu may have. */
  readonly first: number;
  /** Of those beyond, whom the next tier had to serve. */
  readonly diverted: number;
  readonly unserved: number;
}

/** Fills gpu's calls to the last one: if any of them is still held by somebody who is gone, there is no room for all. */
export async function fill({ ports }: Gateway): Promise<Capacity> {
  const url = `http://127.0.0.1:${ports.clients}`;
  const callAt = async () => await chat(url, { stream: true, maxTokens: lastingTokens, timeoutMs: 30_000 });
  const first = Array.from({ length: mostCalls }, callAt);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const rest = Array.from({ length: beyond }, callAt);
  const answers = [await Promise.all(first), await Promise.all(rest)] as const;
  const by = (backend: string) => (answer: Answer) => answer.headers["x-llm-breaker-backend"] === backend;
  return {
    first: answers[0].filter(by("gpu")).length,
    diverted: answers[1].filter((answer) => !by("gpu")(answer)).length,
    unserved: answers.flat().filter(({ status, complete }) => status !== 200 || !complete).length,
  };
}

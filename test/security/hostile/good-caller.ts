import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../../support/client.js";

/** Asks all the time, one request after another, and keeps what was not as it should be. */
export class GoodCaller {
  asked = 0;
  readonly complaints: string[] = [];
  #isLeaving = false;
  readonly #over: Promise<void>;

  constructor(
    private readonly baseUrl: string,
    private readonly backend: string,
  ) {
    this.#over = this.#run();
  }

  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#over;
  }

  async #run(): Promise<void> {
    while (!this.#isLeaving) {
      const answer = await chat(this.baseUrl, { stream: this.asked++ % 2 === 0 });
      const who = answer.headers["x-llm-breaker-backend"];
      if (answer.status !== 200 || !answer.complete || who !== this.backend)
        this.complaints.push(
          `${answer.status} by ${who}, ${answer.brokenBy ?? "whole"}: ${answer.text.slice(0, 100)}`,
        );
      await sleep(3);
    }
  }
}

import type { Answer } from "../../../extproc/messages.js";
import type { Job, Role } from "../../../extproc/role.js";

type Handler = Exclude<keyof Job, "onEnd">;

export interface DiarySettings {
  /** What handlers answer; the others answer `{}`. */
  readonly answers?: Partial<Record<Handler, () => Answer | Promise<Answer>>>;
}

/** A role that writes down what its jobs are asked, in words. */
export class Diary implements Role {
  readonly entries: string[] = [];
  /** Jobs whose stream is over, counted each time. */
  ends = 0;
  private waiters: (() => void)[] = [];

  constructor(private readonly settings: DiarySettings = {}) {}

  begin(): Job {
    const note = (handler: Handler, text: string): Answer | Promise<Answer> => {
      this.entries.push(text);
      return this.settings.answers?.[handler]?.() ?? {};
    };
    return {
      onRequestHeaders: (isWhole) => note("onRequestHeaders", `request headers${isWhole ? ", whole" : ""}`),
      onRequestBody: (body, isEnd) => note("onRequestBody", `request body ${body}${isEnd ? ", end" : ""}`),
      onResponseHeaders: (status, headers, isWhole) =>
        note(
          "onResponseHeaders",
          `response ${status} ${headers.get("content-type") ?? ""}${isWhole ? ", whole" : ""}`,
        ),
      onResponseBody: (chunk, isEnd) =>
        note("onResponseBody", `response body ${chunk}${isEnd ? ", end" : ""}`),
      onResponseTrailers: () => note("onResponseTrailers", "response trailers"),
      onEnd: () => {
        this.ends++;
        for (const wake of this.waiters.splice(0)) wake();
      },
    };
  }

  /** Resolves when a job's stream is over. */
  async ended(): Promise<void> {
    if (this.ends === 0) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }
}

import { z } from "zod";

const ms = z.number().nonnegative().max(600_000);

/** An engine that is up again and not yet itself: the first batches compile, its caches are empty. */
const warmUpSchema = z.strictObject({
  forMs: ms,
  /** Everything takes so many times as long. */
  factor: z.number().positive().max(1000),
  /** A prompt of more tokens is too much for it: all that runs is lost, and the restart begins again. */
  deadlyPromptTokens: z.number().int().positive(),
});
export type WarmUp = z.output<typeof warmUpSchema>;

/**
 * What can be wrong with a backend. Shapes follow what engines really send (vLLM and TGI bodies, errors inside a 200
 * stream followed by `[DONE]`), so that a breaker is tried on them and not on tidy errors.
 */
export const faultSchema = z.discriminatedUnion("kind", [
  /** 500s that tell of CUDA's out of memory; after its end the engine is dead for `recoveryMs`, warms up, then serves again. */
  z.strictObject({
    kind: z.literal("cudaOutOfMemory"),
    recoveryMs: ms.default(3000),
    recovery: z.enum(["engineDead", "refused"]).default("engineDead"),
    warmUp: warmUpSchema.optional(),
  }),
  /** Takes the request and never answers; `/health` stays green. */
  z.strictObject({ kind: z.literal("hang") }),
  /** Headers and role chunk at once, the first token after `firstTokenMs`. */
  z.strictObject({ kind: z.literal("slowFirstToken"), firstTokenMs: ms.default(30_000) }),
  /** 200 text/event-stream, then `data: {"error":…}` and `data: [DONE]`, after `afterEvents` content chunks. */
  z.strictObject({
    kind: z.literal("errorInStream"),
    afterEvents: z.number().int().nonnegative().default(0),
    message: z
      .string()
      .default("EngineCore encountered an issue. See stack trace (above) for the root cause."),
    type: z.string().default("InternalServerError"),
    code: z.number().int().default(500),
    /** Answers in one piece are that error as well, under their 200. */
    inOnePiece: z.boolean().default(false),
  }),
  /** The socket is destroyed before any header. */
  z.strictObject({ kind: z.literal("reset") }),
  /** The stream ends after `afterEvents` content chunks: by RST, or cleanly without finish_reason and `[DONE]`. */
  z.strictObject({
    kind: z.literal("cutStream"),
    afterEvents: z.number().int().nonnegative().default(5),
    how: z.enum(["rst", "clean"]).default("rst"),
  }),
  z.strictObject({
    kind: z.literal("status"),
    status: z.number().int().min(200).max(599),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().default(""),
  }),
  /** Everything takes `factor` times as long. */
  z.strictObject({ kind: z.literal("slow"), factor: z.number().positive().max(10_000) }),
]);

export type Fault = z.output<typeof faultSchema>;
export type FaultRequest = z.input<typeof faultSchema>;

/** A backend's health as its handler sees it. `recovering` and `warming` are the engine's restart after an out-of-memory fault. */
export type Condition =
  | { readonly state: "healthy" }
  | { readonly state: "faulty"; readonly fault: Fault }
  | Restart
  | { readonly state: "warming"; readonly untilMs: number; readonly warmUp: WarmUp; readonly after: Restart };

interface Restart {
  readonly state: "recovering";
  readonly untilMs: number;
  readonly refuses: boolean;
  readonly recoveryMs: number;
  readonly warmUp: WarmUp | undefined;
}

/** Holds one backend's condition. `now` is monotonic ms. */
export class FaultBoard {
  #condition: Condition = { state: "healthy" };

  begin(fault: Fault): void {
    this.#condition = { state: "faulty", fault };
  }

  /** Ends the fault; returns the lag until the backend serves as before, in ms (0 = at once). */
  end(now: number): number {
    const condition = this.#condition;
    this.#condition = { state: "healthy" };
    if (condition.state !== "faulty" || condition.fault.kind !== "cudaOutOfMemory") return 0;
    const { recoveryMs, recovery, warmUp } = condition.fault;
    const lagMs = recoveryMs + (warmUp?.forMs ?? 0);
    if (lagMs === 0) return 0;
    const refuses = recovery === "refused";
    this.#condition = { state: "recovering", untilMs: now + recoveryMs, refuses, recoveryMs, warmUp };
    return lagMs;
  }

  /** A warming engine was asked too much: the restart begins again. */
  relapse(now: number): void {
    if (this.#condition.state !== "warming") return;
    const { after } = this.#condition;
    this.#condition = { ...after, untilMs: now + after.recoveryMs };
  }

  at(now: number): Condition {
    const { state } = this.#condition;
    if (state === "recovering" && now >= this.#condition.untilMs) {
      const { untilMs, warmUp } = this.#condition;
      this.#condition = warmUp
        ? { state: "warming", untilMs: untilMs + warmUp.forMs, warmUp, after: this.#condition }
        : { state: "healthy" };
    }
    if (this.#condition.state === "warming" && now >= this.#condition.untilMs) {
      this.#condition = { state: "healthy" };
    }
    return this.#condition;
  }
}

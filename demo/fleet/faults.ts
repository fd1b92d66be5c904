import { z } from "zod";

const ms = z.number().nonnegative().max(600_000);

/**
 * What can be wrong with a backend. Shapes follow what engines really send (vLLM and TGI bodies, errors inside a 200
 * stream followed by `[DONE]`), so that a breaker is tried on them and not on tidy errors.
 */
export const faultSchema = z.discriminatedUnion("kind", [
  /** 500s that tell of CUDA's out of memory; after its end the engine is dead for `recoveryMs`, then serves again. */
  z.strictObject({
    kind: z.literal("cudaOutOfMemory"),
    recoveryMs: ms.default(3000),
    recovery: z.enum(["engineDead", "refused"]).default("engineDead"),
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

/** A backend's health as its handler sees it. `recovering` is the engine's restart after an out-of-memory fault. */
export type Condition =
  | { readonly state: "healthy" }
  | { readonly state: "faulty"; readonly fault: Fault }
  | { readonly state: "recovering"; readonly untilMs: number; readonly refuses: boolean };

/** Holds one backend's condition. `now` is monotonic ms. */
export class FaultBoard {
  #condition: Condition = { state: "healthy" };

  begin(fault: Fault): void {
    this.#condition = { state: "faulty", fault };
  }

  /** Ends the fault; returns the lag until the backend serves again, in ms (0 = at once). */
  end(now: number): number {
    const condition = this.#condition;
    this.#condition = { state: "healthy" };
    if (condition.state !== "faulty" || condition.fault.kind !== "cudaOutOfMemory") return 0;
    const { recoveryMs, recovery } = condition.fault;
    if (recoveryMs === 0) return 0;
    this.#condition = { state: "recovering", untilMs: now + recoveryMs, refuses: recovery === "refused" };
    return recoveryMs;
  }

  at(now: number): Condition {
    if (this.#condition.state === "recovering" && now >= this.#condition.untilMs) {
      this.#condition = { state: "healthy" };
    }
    return this.#condition;
  }
}

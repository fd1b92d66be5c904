/** What a racer is given: engines of its own, and what whoever runs engines knows of them. All of it is on 127.0.0.1. */
export interface Track {
  /** Ports of the primary's nodes: one, or several that share its load. They speak OpenAI's chat completions, and GET /health. */
  readonly nodes: readonly number[];
  /** Port of the paid tier that is asked when the primary can't: always healthy, slower at its first token. */
  readonly fallback: number;
  /** Answers that a node works on at once; what is above them waits in its queue. */
  readonly slots: number;
  readonly limits: Limits;
  /** For the racer's own files; it is empty, and goes when the race is over. */
  readonly folder: string;
  /** Where the filter's modules are. */
  readonly modules: string;
}

/** What the operator promises to callers; each racer is set up for it as well as it can be. */
export interface Limits {
  /** What a healthy engine needs for the first token of any prompt, with some room. */
  readonly objectiveMs: number;
  /** The longest wait for the first token of a stream that is worth waiting. */
  readonly firstTokenMs: number;
  /** The longest that an answer in one piece takes on a healthy engine, with room to spare. */
  readonly answerMs: number;
}

/** Something that stands between callers and engines. */
export interface Racer {
  /** As in tables; short. */
  readonly name: string;
  /** How it is set up, in a sentence. */
  readonly what: string;
  /** Why it can't run here, in a sentence; undefined when it can. It may install what it needs. */
  available(): Promise<string | undefined>;
  /** Resolves when it serves. */
  start(track: Track): Promise<RunningRacer>;
}

export interface RunningRacer {
  /** Where callers POST /v1/chat/completions. */
  readonly port: number;
  /** Its processes. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

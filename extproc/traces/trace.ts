/** What a span tells besides its name and its time. Never of a body or a key; undefined values are left out. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  note(facts: Facts): void;
  /** It failed; of the cause only its kind is told, since a message may hold what a caller sent. */
  fail(cause: unknown): void;
  end(): void;
}

/** The span of one stream, for as long as that lasts, and those of its stages. */
export interface Trace extends Span {
  stage(name: string): Span;
}

/** Makes the traces of streams. */
export interface StreamTracer {
  /** Undefined when the request that the stream is for is not traced. */
  begin(role: string, traceParent: string | undefined): Trace | undefined;
}

/** Does a stage's work within its own span, where the stream is traced. */
export function inStage<Result>(
  trace: Trace | undefined,
  name: string,
  work: () => Promise<Result>,
  factsOf: (result: Result) => Facts,
): Promise<Result> {
  return trace === undefined ? work() : recorded(trace.stage(name), work, factsOf);
}

async function recorded<Result>(
  span: Span,
  work: () => Promise<Result>,
  factsOf: (result: Result) => Facts,
): Promise<Result> {
  try {
    const result = await work();
    span.note(factsOf(result));
    return result;
  } catch (cause) {
    span.fail(cause);
    throw cause;
  } finally {
    span.end();
  }
}

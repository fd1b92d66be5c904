import type { Logger } from "pino";
import type { CountAsk, CountReply, SourceFile } from "./protocol.js";
import type { Normalization } from "./upper-bound.js";
import { VocabularyThread } from "./vocabulary-thread.js";

/** One is not dropped for another that soon: texts of four families in turn must not load all the time. */
const MIN_IDLE_MS = 5000;
/** The pause after a thread that failed, doubled each time. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

interface Entry {
  readonly source: SourceFile;
  readonly thread: VocabularyThread;
  usedAt: number;
}

interface Failure {
  count: number;
  until: number;
}

type StartThread = (file: string, onExit: () => void) => VocabularyThread;

/**
 * The vocabularies that are in memory, 90 to 500 MB each, one thread for each; made once per process, so that a new
 * configuration finds them loaded. One is loaded when it is first asked for; the least recently used one goes when
 * there are more than `maxVocabularies`.
 */
export class VocabularyStore {
  private readonly entries = new Map<string, Entry>();
  private readonly failures = new Map<string, Failure>();
  private isClosed = false;
  maxVocabularies = 3;

  constructor(
    private readonly log: Pick<Logger, "info" | "warn">,
    private readonly startThread: StartThread = (file, onExit) => new VocabularyThread(file, onExit),
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Loads one, if it is not there yet, and waits for it. Rejects with what is wrong with the file. */
  async load(source: SourceFile): Promise<Normalization> {
    const entry = this.entries.get(keyOf(source)) ?? this.start(source);
    return entry.thread.ready;
  }

  /** Undefined, at once, when the vocabulary is not loaded; this ask is what makes it load. */
  async count(
    source: SourceFile,
    ask: CountAsk,
    untilMs = Number.POSITIVE_INFINITY,
  ): Promise<CountReply | undefined> {
    const entry = this.entries.get(keyOf(source));
    if (entry === undefined) {
      if (this.mayStart(keyOf(source))) this.start(source);
      return undefined;
    }
    entry.usedAt = this.now();
    return entry.thread.isReady ? entry.thread.count(ask, untilMs) : undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.entries.values()].map(({ thread }) => thread.close()));
  }

  private mayStart(key: string): boolean {
    const failure = this.failures.get(key);
    if (this.isClosed || (failure !== undefined && this.now() < failure.until)) return false;
    return this.entries.size < this.maxVocabularies || this.leastUsed() !== undefined;
  }

  private start(source: SourceFile): Entry {
    const key = keyOf(source);
    const { file } = source;
    const thread = this.startThread(file, () => this.onExit(key, entry));
    const entry: Entry = { source, thread, usedAt: this.now() };
    const startedAt = this.now();
    this.entries.set(key, entry);
    thread.ready.then(
      () => this.log.info({ file, loadMs: Math.round(this.now() - startedAt) }, "vocabulary loaded"),
      () => {},
    );
    this.dropOthers(entry);
    return entry;
  }

  /** Files that are asked for at once may be more than the limit until they are idle. */
  private dropOthers(kept: Entry): void {
    while (this.entries.size > this.maxVocabularies) {
      const least = this.leastUsed();
      if (least === undefined || least === kept) return;
      this.log.info({ file: least.source.file }, "vocabulary dropped, tokens.maxVocabularies is reached");
      this.entries.delete(keyOf(least.source));
      void least.thread.close();
    }
  }

  private leastUsed(): Entry | undefined {
    const before = this.now() - MIN_IDLE_MS;
    return [...this.entries.values()]
      .filter(({ thread, usedAt }) => thread.isIdle && thread.isReady && usedAt <= before)
      .sort((a, b) => a.usedAt - b.usedAt)[0];
  }

  private onExit(key: string, entry: Entry): void {
    if (this.isClosed || this.entries.get(key) !== entry) return;
    this.entries.delete(key);
    const last = this.failures.get(key);
    const count = last && this.now() < last.until + MAX_PAUSE_MS ? last.count + 1 : 1;
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
    this.failures.set(key, { count, until: this.now() + pauseMs });
    this.log.warn(
      { file: entry.source.file, pauseMs },
      "vocabulary's thread ended, its counts are bounds until it is back",
    );
  }
}

function keyOf({ file, version }: SourceFile): string {
  return `${file}\n${version}`;
}

import type { LogLines } from "../support/log-lines.js";

/** A process of the system, whichever program it runs. */
export interface Running {
  readonly pid: number;
  readonly log: LogLines;
  /** How it ended; undefined while it runs. */
  readonly exit: string | undefined;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<unknown>;
}

/** A part of the system that can be killed or stopped, and started again where it was. */
export class Victim<R extends Running = Running> {
  /** Of all its lives. */
  readonly logs: LogLines[] = [];
  private life: R | undefined;
  private isStopped = false;

  private constructor(
    readonly name: string,
    private readonly begin: () => Promise<R>,
  ) {}

  static async start<R extends Running>(name: string, begin: () => Promise<R>): Promise<Victim<R>> {
    const victim = new Victim(name, begin);
    await victim.revive();
    return victim;
  }

  /** Undefined while it is dead. */
  get running(): R | undefined {
    return this.life;
  }

  /** Neither dead nor stopped. */
  get isUp(): boolean {
    return this.life !== undefined && !this.isStopped;
  }

  async kill(): Promise<void> {
    const { life } = this;
    this.life = undefined;
    life?.signal("SIGKILL");
    await life?.stop();
  }

  freeze(): void {
    this.isStopped = true;
    this.life?.signal("SIGSTOP");
  }

  async revive(): Promise<void> {
    if (this.isStopped) this.life?.signal("SIGCONT");
    this.isStopped = false;
    if (this.life) return;
    // A machine that is busy with others may take longer than a start is given.
    this.life = await this.begin().catch(() => this.begin());
    this.logs.push(this.life.log);
  }

  async stop(): Promise<void> {
    await this.life?.stop();
    this.life = undefined;
  }
}

import { type ChildProcess, spawn } from "node:child_process";

const commandLimitMs = 30_000;
const endLimitMs = 5_000;

export interface Ran {
  readonly exitCode: number;
  /** What it, and whatever runs in the background, wrote meanwhile. */
  readonly output: string;
}

/** A shell that is given one command after the other, as by a reader at a terminal. */
export class ShellSession {
  readonly #bash: ChildProcess;
  readonly #closed: Promise<void>;
  readonly #killAtExit = (): void => this.#kill("SIGKILL");
  #output = "";
  #heard: () => void = () => {};
  #count = 0;

  constructor(folder: string, environment: NodeJS.ProcessEnv = process.env) {
    // A process group of its own: what is started in the background ends with it.
    this.#bash = spawn("bash", ["--noprofile", "--norc"], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    process.on("exit", this.#killAtExit);
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#heard();
      });
    }
    this.#closed = new Promise((resolve) => this.#bash.once("close", () => resolve()));
  }

  /** @throws when it takes more than 30 s, with what it wrote */
  async run(command: string): Promise<Ran> {
    const mark = `done-${++this.#count}`;
    const from = this.#output.length;
    // The shell's own input holds the next commands: it is not for this one to read.
    this.#bash.stdin?.write(`{ ${command}\n} </dev/null\necho "${mark}:$?:"\n`);
    const end = new RegExp(`${mark}:(\\d+):\\n`);
    const exitCode = await this.#whenHeard(() => end.exec(this.#output.slice(from))?.[1], command);
    const output = this.#output.slice(from).replace(end, "");
    return { exitCode: Number(exitCode), output };
  }

  /** Runs a command that has no end of its own, until it has written what is expected. */
  async watch(command: string, expected: RegExp): Promise<void> {
    const from = this.#output.length;
    await this.run(`${command} & watched=$!`);
    try {
      await this.#whenHeard(() => expected.exec(this.#output.slice(from))?.[0], command);
    } finally {
      await this.run("kill $watched; wait $watched 2>/dev/null; true");
    }
  }

  /** Ends the shell and all that it has started. */
  async end(): Promise<void> {
    this.#kill("SIGTERM");
    const timer = setTimeout(() => this.#kill("SIGKILL"), endLimitMs);
    await this.#closed;
    clearTimeout(timer);
    // A shell may be gone before what it has started.
    this.#kill("SIGKILL");
    process.off("exit", this.#killAtExit);
  }

  #whenHeard(found: () => string | undefined, what: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const give = (): void => {
        clearTimeout(timer);
        this.#heard = () => {};
      };
      const fail = (why: string): void => {
        give();
        reject(new Error(`${what}\n${why}:\n${this.#output.slice(-3000)}`));
      };
      const timer = setTimeout(() => fail("took too long"), commandLimitMs);
      this.#heard = () => {
        const text = found();
        if (text === undefined) return;
        give();
        resolve(text);
      };
      this.#closed.then(() => fail("the shell has ended"));
      this.#heard();
    });
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#bash.pid === undefined) return;
    try {
      process.kill(-this.#bash.pid, signal);
    } catch {
      // Nothing of it is left.
    }
  }
}

import { fileURLToPath } from "node:url";
import { Child } from "../../test/support/child.js";
import { send } from "../../test/support/client.js";
import { freePort } from "../../test/support/ports.js";
import { type CutCounts, cutsPath } from "./paced-upstream.js";

const readyTimeoutMs = 10_000;

/** The paced upstream, running in a process of its own. */
export class PacedProcess {
  readonly port: number;
  readonly #child: Child;

  private constructor(child: Child, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(): Promise<PacedProcess> {
    const port = await freePort();
    const script = fileURLToPath(new URL("paced-main.js", import.meta.url));
    const child = new Child({
      name: "the bench's upstream",
      program: process.execPath,
      args: ["--enable-source-maps", script, String(port)],
      cwd: process.cwd(),
    });
    const upstream = new PacedProcess(child, port);
    await child.whenReady(async () => Boolean(await upstream.cuts()), readyTimeoutMs);
    return upstream;
  }

  async cuts(): Promise<CutCounts> {
    return JSON.parse((await send(`http://127.0.0.1:${this.port}${cutsPath}`)).text) as CutCounts;
  }

  async stop(): Promise<void> {
    await this.#child.stop();
  }
}

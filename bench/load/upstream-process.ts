import { fileURLToPath } from "node:url";
import { Child } from "../../test/support/child.js";
import { freePort } from "../../test/support/ports.js";
import { canConnect } from "../can-connect.js";

const readyTimeoutMs = 10_000;

/** The bench's upstream in a process of its own. It can't be told to go on with an answer. */
export class UpstreamProcess {
  readonly port: number;
  readonly #child: Child;

  private constructor(child: Child, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(): Promise<UpstreamProcess> {
    const port = await freePort();
    const script = fileURLToPath(new URL("upstream-main.js", import.meta.url));
    const args = ["--enable-source-maps", script, String(port)];
    const child = new Child({
      name: "the bench's upstream",
      program: process.execPath,
      args,
      cwd: process.cwd(),
    });
    await child.whenReady(() => canConnect(port), readyTimeoutMs);
    return new UpstreamProcess(child, port);
  }

  async stop(): Promise<void> {
    await this.#child.stop();
  }
}

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../../test/support/ports.js";
import type { RunningRacer, Track } from "../../racer.js";
import { peersFolder } from "../peer-packages.js";
import { startPeer } from "../peer-process.js";
import type { ProxySettings } from "./proxy.js";

const waitMs = 1250;
const fallbackMs = 10_000;

/** The proxy around the guard of one library, set up for what the operator promises. */
export async function startProxy(library: string, { nodes, fallback, slots, limits, folder }: Track) {
  const settings: ProxySettings = {
    nodes,
    fallback,
    firstEventMs: limits.firstTokenMs,
    wholeMs: limits.answerMs,
    fallbackMs,
    stallMs: limits.answerMs,
    // As many again as the node works on may wait in its queue.
    capacity: 2 * slots,
    waitMs,
  };
  const port = await freePort();
  const script = fileURLToPath(new URL("proxy-main.js", import.meta.url));
  const guard = join(peersFolder, `${library}.mjs`);
  const args = ["--enable-source-maps", script, guard, String(port), JSON.stringify(settings)];
  return (await startPeer(port, {
    name: `the ${library} proxy`,
    program: process.execPath,
    args,
    cwd: folder,
  })) satisfies RunningRacer;
}

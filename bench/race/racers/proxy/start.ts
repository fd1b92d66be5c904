import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../../test/support/ports.js";
import type { RunningRacer, Track } from "../../racer.js";
import { peersFolder } from "../peer-packages.js";
import { startPeer } from "../peer-process.js";
import type { ProxySettings } from "./proxy.js";

/** As ours; a longer one has fewer calls for a sick node, a shorter one is back earlier. */
const waitMs = 5000;
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
    // Streams past their first byte do not count, so that as many as the node works on may wait in its queue.
    capacity: slots,
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

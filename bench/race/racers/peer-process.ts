import { connect } from "node:net";
import { Child, type ChildSettings } from "../../../test/support/child.js";
import type { RunningRacer } from "../racer.js";

const readyTimeoutMs = 20_000;

/** A racer that is one process, and listens. */
export async function startPeer(port: number, settings: ChildSettings): Promise<RunningRacer> {
  const child = new Child(settings);
  await child.whenReady(() => canConnect(port), readyTimeoutMs);
  return { port, pids: [child.pid], stop: async () => void (await child.stop()) };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

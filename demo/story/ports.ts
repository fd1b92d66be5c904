import { createServer } from "node:http";
import { connect } from "node:net";
import { listen } from "../fleet/listen.js";

/**
 * Makes sure that a port can be taken by a process we are about to start.
 * @throws PortBusyError with the port and the remedy
 */
export async function assertPortFree(port: number, purpose: string): Promise<void> {
  const server = createServer();
  await listen(server, port, purpose);
  await new Promise((resolve) => server.close(resolve));
}

/** Whether something accepts connections on the port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const finish = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => finish(true));
    socket.once("error", () => finish(false));
  });
}

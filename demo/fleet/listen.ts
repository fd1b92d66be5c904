import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";

/** A port could not be taken. The message names the port and what to do. */
export class PortBusyError extends Error {
  constructor(port: number, purpose: string, cause: unknown) {
    super(
      `Port ${port} on 127.0.0.1 is needed for ${purpose}, but something else listens there. ` +
        `Stop it (\`ss -ltnp 'sport = :${port}'\` shows what it is) and start again.`,
      { cause },
    );
    this.name = "PortBusyError";
  }
}

/**
 * Listens on loopback only and returns the port (of use with 0).
 * @throws PortBusyError when the port is taken
 */
export async function listen(server: Server, port: number, purpose: string): Promise<number> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
      throw new PortBusyError(port, purpose, error);
    }
    throw error;
  }
  return (server.address() as AddressInfo).port;
}

/**
 * Refuses new connections and leaves the live ones alone, which http's own `close` does not: an idle one that it cuts while
 * Envoy sends on it would be a request that only Envoy counts. `listen` opens the port again.
 */
export function stopListening(server: Server): void {
  NetServer.prototype.close.call(server);
}

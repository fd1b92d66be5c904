import { createServer } from "node:net";

// Below the kernel's ephemeral range, so that an outgoing connection can't take a port between the check and its use.
const firstPort = 24_000;
const portCount = 8_000;
const given = new Set<number>();

/** A port of 127.0.0.1 that nobody listens on; never the same one twice in a process. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = firstPort + Math.floor(Math.random() * portCount);
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port found from ${firstPort} on`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

import { createServer } from "node:net";
import { waitFor } from "./wait-for.js";

const productPorts = [10000, 9901, 9002, 9003, 9004, 9101, 9102, 9103];
const patienceMs = 60_000;

/**
 * Waits until nobody holds the ports of the shipped files, since a demo may be running.
 * @throws naming the ports that are still taken after 60 s
 */
export async function whenProductPortsAreFree(): Promise<void> {
  let taken: number[] = [];
  const isFree = async (): Promise<boolean> => {
    taken = [];
    for (const port of productPorts) if (!(await canListen(port))) taken.push(port);
    return taken.length === 0;
  };
  await waitFor(isFree, patienceMs, "all ports of the shipped files free").catch((cause: unknown) => {
    throw new Error(`ports ${taken.join(", ")} are held by another process; end it and try again`, { cause });
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "0.0.0.0", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

import { connect } from "node:net";
import type { Random } from "../../chaos/random.js";

const QUIET_MS = 60;
const MOST_MS = 2_500;

/**
 * Sends `bytes` in some pieces on a connection of its own, and goes once the other side is silent after an answer, has closed, or takes too
 * long. Whether any byte came back.
 */
export function throwAt(url: string, bytes: Buffer, random: Random): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const cuts = Array.from({ length: random.between(0, 3) }, () => random.between(0, bytes.length)).sort(
    (a, b) => a - b,
  );
  return new Promise((resolve) => {
    let isAnswered = false;
    const socket = connect(Number(port), hostname);
    const end = (): void => {
      clearTimeout(quiet);
      clearTimeout(most);
      socket.destroy();
      resolve(isAnswered);
    };
    let quiet = setTimeout(end, MOST_MS);
    const most = setTimeout(end, MOST_MS);
    const waitForQuiet = (): void => {
      clearTimeout(quiet);
      quiet = setTimeout(end, QUIET_MS);
    };
    socket.setNoDelay(true);
    socket.on("data", () => {
      isAnswered = true;
      waitForQuiet();
    });
    socket.on("error", end);
    socket.on("close", end);
    socket.on("connect", async () => {
      for (let at = 0; at <= cuts.length; at++) {
        socket.write(bytes.subarray(cuts[at - 1] ?? 0, cuts[at] ?? bytes.length));
        await new Promise((later) => setImmediate(later));
      }
      // Half of them wait for ever otherwise.
      if (!isAnswered) waitForQuiet();
    });
  });
}

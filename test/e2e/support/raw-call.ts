import { connect } from "node:net";

/** Sends `bytes` (a string as latin1) on a connection of its own and returns what came until the other side closed. */
export function rawCall(url: string, bytes: string | Uint8Array, timeoutMs = 5_000): Promise<string> {
  const { hostname, port } = new URL(url);
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks).toString("latin1"));
    };
    const timer = setTimeout(end, timeoutMs);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", end);
    socket.on("close", end);
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

/** A client that sends `bytes` and leaves after `stayMs`, without waiting for an answer. */
export function sendAndLeave(url: string, bytes: string, stayMs: number): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(Buffer.from(bytes, "latin1"));
      setTimeout(() => {
        socket.destroy();
        resolve();
      }, stayMs);
    });
    socket.on("error", () => resolve());
    socket.resume();
  });
}

import type { Mode, Write } from "../../support/upstream-mode.js";
import { type Cluster, protocolOf } from "./shipped-config.js";

/** Over HTTP/1.1 Envoy drops trailers unless it is told to keep them. */
export function keepTrailers(cluster: Cluster): void {
  protocolOf(cluster).explicit_http_config = { http_protocol_options: { enable_trailers: true } };
}

/** An answer in these chunks, ended by a trailer. */
export function endedByTrailers(type: string, chunks: readonly string[]): Mode {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n`;
  const writes: Write[] = chunks.flatMap((chunk): Write[] => [
    `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`,
    { waitMs: 30 },
  ]);
  return { kind: "raw", writes: [head, ...writes, "0\r\nx-sum: 1\r\n\r\n"] };
}

import type { ServerOptions } from "@grpc/grpc-js";

/** Room for the largest body plus its frame; a larger message fails that stream only. */
const FRAME_BYTES = 1_048_576;

/** What the server needs of HTTP/2 to live beside Envoys, which open a stream for each request on one connection. */
export function grpcOptions(maxBodyBytes: number): ServerOptions {
  return { "grpc.max_receive_message_length": maxBodyBytes + FRAME_BYTES };
}

import { frame, HEAD_BYTES } from "../grpc/framing.js";
import { Reader } from "./reader.js";
import { Writer } from "./writer.js";

/** grpc.health.v1.HealthCheckResponse.ServingStatus. */
export enum ServingStatus {
  Serving = 1,
  NotServing = 2,
  ServiceUnknown = 3,
}

/**
 * The service that a HealthCheckRequest names.
 * @throws WireError.
 */
export function readHealthRequest(bytes: Buffer): string {
  const reader = new Reader(bytes);
  let service = "";
  while (reader.next()) {
    if (reader.field === 1) service = reader.text();
    else reader.skip();
  }
  return service;
}

/** A framed HealthCheckResponse. */
export function writeHealthResponse(status: ServingStatus): Buffer {
  const writer = new Writer(HEAD_BYTES);
  writer.varint(1, status);
  return frame(writer.finish());
}

/** The gRPC status codes that we end calls with. */
export enum Status {
  Ok = 0,
  NotFound = 5,
  ResourceExhausted = 8,
  Unimplemented = 12,
  Internal = 13,
}

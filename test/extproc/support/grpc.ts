import { pino } from "pino";
import { GrpcServer } from "../../../extproc/grpc-server.js";
import { Health } from "../../../extproc/health.js";
import type { Role } from "../../../extproc/role.js";
import { ServiceClient } from "./client.js";

export interface TestServer {
  readonly server: GrpcServer;
  readonly client: ServiceClient;
  close(): void;
}

/** A gRPC server with roles of the test's own, and a client for it. */
export async function serve(roles: Record<string, Role>): Promise<TestServer> {
  const server = new GrpcServer({
    maxBodyBytes: 1_048_576,
    lease: () => ({ services: { roles: new Map(Object.entries(roles)) }, end: () => {} }),
    health: new Health(),
    log: pino({ level: "silent" }),
  });
  const port = await server.listen("127.0.0.1:0");
  const client = new ServiceClient(`127.0.0.1:${port}`);
  return {
    server,
    client,
    close() {
      client.close();
      server.close();
    },
  };
}

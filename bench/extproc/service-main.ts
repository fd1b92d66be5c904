// The service as it ships, and one role more that does nothing: `node service-main.js HOST:PORT`.
import { GrpcServer } from "../../extproc/grpc-server.js";
import { Health } from "../../extproc/health.js";
import type { Role } from "../../extproc/role.js";
import { parseConfig } from "../../extproc/service-config.js";
import { buildServices } from "../../extproc/services.js";
import { createLog } from "../../extproc/telemetry/log.js";
import { DO_NOTHING } from "./roles.js";

const config = parseConfig({ log: { level: "error" } });
const log = createLog(config.log.level);
const services = buildServices(config, log);
const doNothing: Role = { begin: () => ({ onRequestHeaders: () => ({}), onRequestBody: () => ({}) }) };
const server = new GrpcServer({
  maxBodyBytes: config.maxBodyBytes,
  findRole: (name) => (name === DO_NOTHING ? doNothing : services.roles.get(name)),
  health: new Health(),
  log,
});
await server.listen(process.argv[2] ?? "127.0.0.1:0");

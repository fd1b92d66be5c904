// The service as it ships, and one role more that does nothing: `node service-main.js HOST:PORT`.
import { ControlSide } from "../../extproc/control-side.js";
import { Generations } from "../../extproc/generations.js";
import { GrpcServer } from "../../extproc/grpc-server.js";
import { Health } from "../../extproc/health.js";
import type { Role } from "../../extproc/role.js";
import { parseConfig } from "../../extproc/service-config.js";
import { buildServices } from "../../extproc/services.js";
import { Shelf } from "../../extproc/shelf.js";
import { createLog } from "../../extproc/telemetry/log.js";
import { DO_NOTHING } from "./roles.js";

const config = parseConfig({ log: { level: "error" } });
const log = createLog(config.log.level);
const services = await buildServices(config, new Shelf(), log, new ControlSide(log, {}));
const doNothing: Role = { begin: () => ({ onRequestHeaders: () => ({}), onRequestBody: () => ({}) }) };
const roles = new Map([...services.roles, [DO_NOTHING, doNothing]]);
const generations = new Generations({ ...services, roles });
const server = new GrpcServer({
  maxBodyBytes: config.maxBodyBytes,
  lease: () => generations.lease(),
  health: new Health(),
  log,
});
await server.listen(process.argv[2] ?? "127.0.0.1:0");

// The service as it ships, but for its clock and the messages that it misses: `node service-main.js`, told of the weather by its
// parent. Its number and its clock's offset are in the environment.
import { startService } from "../../extproc/server.js";
import { configFile, parseConfig } from "../../extproc/service-config.js";
import { FaultyExchange } from "./faulty-exchange.js";
import { CLOCK_OFFSET_VARIABLE, MEMBER_VARIABLE } from "./gateway-config.js";
import { calm, type Weather } from "./weather.js";

const member = Number(process.env[MEMBER_VARIABLE]);
const offsetMs = Number(process.env[CLOCK_OFFSET_VARIABLE] ?? 0);
const wallNow = Date.now;
Date.now = () => wallNow() + offsetMs;

let weather = calm;
process.on("message", (told: Weather) => {
  weather = told;
});

const file = configFile(process.env);
const service = await startService(file?.parse(file.read()) ?? parseConfig({}), {
  decorateExchange: (exchange) => new FaultyExchange(exchange, member, () => weather),
});
process.on("SIGTERM", () => void service.close().then(() => process.exit(0)));

// One proxy in a process of its own: `node proxy-main.js GUARD-FILE PORT SETTINGS-AS-JSON`.
import { loadCreateGuard } from "./guard.js";
import { BreakerProxy, type ProxySettings } from "./proxy.js";

const [, , file = "", port = "0", settings = "{}"] = process.argv;
const proxy = new BreakerProxy(JSON.parse(settings) as ProxySettings, await loadCreateGuard(file));
await proxy.listen(Number(port));
process.once("SIGTERM", () => void proxy.close().then(() => process.exit(0)));

// A world's engines in a process of their own: `node world-main.js '{"nodes":[…],"fallback":…,"admin":…,"seed":…}'`.
import { startFleet } from "../../../demo/fleet/fleet.js";
import { backendsOf, type WorldSettings } from "./settings.js";

const settings = JSON.parse(process.argv[2] ?? "") as WorldSettings;
await startFleet({ backends: backendsOf(settings), adminPort: settings.admin, seed: settings.seed });

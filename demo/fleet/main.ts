import { parseArgs } from "node:util";
import { findRepoRoot } from "../../extproc/root.js";
import { type FleetSettings, startFleet } from "./fleet.js";
import { PortBusyError } from "./listen.js";
import { type BackendSettings, demoBackends } from "./settings.js";
import { loadPromptCounter } from "./tokenizer.js";

const USAGE = `Usage: node build/js/demo/fleet/main.js [--backend name:port:model[:key]]… [--admin 9110] [--seed 1]
Without --backend it runs gpu on 9101, small on 9102 and public on 9103.`;

function parseBackend(text: string): BackendSettings {
  const [name, port, model, key] = text.split(":");
  const [template] = demoBackends();
  if (template === undefined || !name || !model || !/^\d+$/.test(port ?? "")) {
    throw new Error(`--backend must be name:port:model[:key], got ${text}`);
  }
  return { ...template, name, model, port: Number(port), ...(key === undefined ? {} : { key }) };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      backend: { type: "string", multiple: true },
      admin: { type: "string", default: "9110" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const settings: FleetSettings = {
    backends: values.backend?.map(parseBackend) ?? demoBackends(),
    adminPort: Number(values.admin),
    seed: Number(values.seed),
    countPromptTokens: loadPromptCounter(findRepoRoot()),
  };
  const fleet = await startFleet(settings);
  for (const [name, backend] of fleet.backends) {
    console.log(`${name} (${backend.settings.model}) on http://127.0.0.1:${backend.port}`);
  }
  console.log(`admin on http://127.0.0.1:${fleet.adminPort}`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void fleet.stop().then(() => process.exit(0)));
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof PortBusyError ? error.message : `${String(error)}\n${USAGE}`);
  process.exit(1);
});

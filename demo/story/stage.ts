import { join } from "node:path";
import { type Fleet, startFleet } from "../fleet/fleet.js";
import { demoBackends } from "../fleet/settings.js";
import { loadPromptCounter } from "../fleet/tokenizer.js";
import { type RealFault, startRealPrimary } from "../real/primary.js";
import type { Cast } from "./cast.js";
import { type Child, ChildError, startChild, waitUntilReady } from "./children.js";
import { findEnvoy, startEnvoy } from "./envoy.js";
import { accepts, assertPortFree } from "./ports.js";
import { type Primary, simulatedPrimary } from "./primary.js";
import type { Screen } from "./screen.js";
import type { Transition } from "./transitions.js";

export interface StageSettings {
  readonly repoRoot: string;
  readonly logFolder: string;
  readonly seed: number;
  /** Envoy's worker threads. */
  readonly concurrency: number;
  readonly real: RealFault | undefined;
  readonly screen: Screen;
  readonly onTransition: (transition: Transition) => void;
  /** Called when the story can't go on. */
  readonly onLoss: (error: ChildError) => void;
}

export interface Stage {
  readonly fleet: Fleet;
  readonly primary: Primary;
}

export const PORTS = {
  gateway: 10_000,
  admin: 9901,
  service: 9002,
  serviceHttp: 9003,
  serviceAdmin: 9004,
  gpu: 9101,
  model: 9104,
};

/**
 * Starts the backends and the product itself: the service, and Envoy with the shipped YAML as it is.
 * @throws PortBusyError, ChildError, RealModelError, EnvoyUnavailableError
 */
export async function setStage(settings: StageSettings, cast: Cast): Promise<Stage> {
  await assertPortFree(PORTS.gateway, "the gateway's listener");
  await assertPortFree(PORTS.admin, "Envoy's admin interface");
  await assertPortFree(PORTS.service, "the service's gRPC port");
  await assertPortFree(PORTS.serviceHttp, "the service's HTTP port");
  await assertPortFree(PORTS.serviceAdmin, "the service's control API");
  if (settings.real !== undefined) await assertPortFree(PORTS.model, "the real model's server");
  const binary = await findEnvoy(settings.repoRoot);
  // The service loads its vocabularies while the fleet loads its own.
  const [, backends] = await Promise.all([startService(settings, cast), startBackends(settings, cast)]);
  await startGateway(settings, binary, cast);
  return backends;
}

/** A simulated fleet, its first backend replaced by a real model when asked for. */
async function startBackends(settings: StageSettings, cast: Cast): Promise<Stage> {
  const { repoRoot, logFolder, real, screen, seed } = settings;
  const countPromptTokens = loadPromptCounter(repoRoot);
  const [, ...fallbacks] = demoBackends();
  const backends = real === undefined ? demoBackends() : fallbacks;
  const fleet = await cast.add(startFleet({ backends, seed, countPromptTokens }), (it) => it.stop());
  if (real === undefined) return { fleet, primary: simulatedPrimary(fleet.backend("gpu")) };
  const primary = startRealPrimary({
    ...{ repoRoot, logFolder, countPromptTokens, port: PORTS.gpu, serverPort: PORTS.model, fault: real },
    tell: (text) => screen.event("install", text),
  });
  return { fleet, primary: await cast.add(primary, (it) => it.stop()) };
}

async function startService(settings: StageSettings, cast: Cast): Promise<void> {
  const { repoRoot, logFolder, screen } = settings;
  const logFile = join(logFolder, "service.log");
  const args = ["--enable-source-maps", "build/js/extproc/main.js"];
  const service = await cast.add(
    startChild({ name: "The service", command: process.execPath, args, cwd: repoRoot, logFile }),
    (it: Child) => it.stop(),
  );
  await waitUntilReady(service, "The service", logFile, () => accepts(PORTS.service));
  // The breaker goes on without it; whether its promises hold then is for the checks to say.
  cast.watch(service, (how) => screen.event("lost", `the service ended: ${how}. Its log: ${logFile}`, "red"));
}

async function startGateway(settings: StageSettings, binary: string, cast: Cast): Promise<void> {
  const { repoRoot, logFolder, concurrency, onTransition, onLoss } = settings;
  const envoy = await cast.add(
    startEnvoy({
      ...{ binary, repoRoot, logFolder, concurrency, onTransition },
      ...{ config: "envoy/full.yaml", adminPort: PORTS.admin },
    }),
    (it) => it.stop(),
  );
  cast.watch(envoy, (how) => {
    onLoss(new ChildError(`Envoy ended in the middle of the story: ${how}. Its log: ${logFolder}/envoy.log`));
  });
}

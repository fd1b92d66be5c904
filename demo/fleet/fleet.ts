import { seededRandom } from "../random.js";
import { createAdmin } from "./admin.js";
import { Backend } from "./backend.js";
import { listen } from "./listen.js";
import { estimatePromptTokens } from "./prompt.js";
import { type BackendSettings, type CountPromptTokens, demoBackends } from "./settings.js";

export interface FleetSettings {
  /** Defaults to the demo's three: gpu, small, public on 9101, 9102, 9103. */
  readonly backends?: readonly BackendSettings[];
  /** Ports of the backends in their order; replaces those in `backends`. 0 takes any free port. */
  readonly ports?: readonly number[];
  /** Defaults to 9110; 0 takes any free port. */
  readonly adminPort?: number;
  readonly seed?: number;
  /** Defaults to four bytes a token. */
  readonly countPromptTokens?: CountPromptTokens;
}

export interface Fleet {
  readonly backends: ReadonlyMap<string, Backend>;
  readonly adminPort: number;
  /** The backend of that name. Throws when there is none. */
  backend(name: string): Backend;
  /** Cuts all connections and frees the ports. */
  stop(): Promise<void>;
}

/**
 * Starts the simulated GPU fleet on 127.0.0.1.
 * @throws PortBusyError when a port is taken; what was started before is stopped again
 */
export async function startFleet(settings: FleetSettings = {}): Promise<Fleet> {
  const { backends: wanted = demoBackends(), ports, seed = 1 } = settings;
  const countTokens = settings.countPromptTokens ?? estimatePromptTokens;
  const backends = new Map<string, Backend>();
  for (const [index, backend] of wanted.entries()) {
    const random = seededRandom(seed * 7919 + index);
    backends.set(
      backend.name,
      new Backend({ ...backend, port: ports?.[index] ?? backend.port }, random, countTokens),
    );
  }
  const admin = createAdmin(backends);
  const started: Backend[] = [];
  const stop = async (): Promise<void> => {
    admin.closeAllConnections();
    await Promise.all([
      ...started.map((backend) => backend.stop()),
      new Promise((resolve) => admin.close(resolve)),
    ]);
  };
  try {
    for (const backend of backends.values()) {
      await backend.start();
      started.push(backend);
    }
    const adminPort = await listen(admin, settings.adminPort ?? 9110, "the demo fleet's admin");
    return {
      backends,
      adminPort,
      stop,
      backend(name) {
        const backend = backends.get(name);
        if (backend === undefined) throw new Error(`the fleet has no backend "${name}"`);
        return backend;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

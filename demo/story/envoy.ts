import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Child, startChild, waitUntilReady } from "./children.js";
import { parseTransition, type Transition } from "./transitions.js";

/** The first with `refresh_cluster_on_retry`. */
const FAILOVER_SINCE = "1.39.0";

export interface EnvoySettings {
  readonly binary: string;
  readonly repoRoot: string;
  readonly logFolder: string;
  /** Path from the repository's root. */
  readonly config: string;
  readonly concurrency: number;
  readonly adminPort: number;
  readonly onTransition: (transition: Transition) => void;
}

/**
 * The stock Envoy's path. The script that gets it is no TypeScript, so it is loaded from the source tree, not from build/.
 * @throws EnvoyUnavailableError with the remedy
 */
export async function findEnvoy(repoRoot: string): Promise<string> {
  const { envoyBinary, EnvoyUnavailableError, isOlder, versionOf } = await loadGetEnvoy(repoRoot);
  const binary = await envoyBinary(process.env, { log: (line) => console.error(line) });
  const version = versionOf(binary) ?? "0";
  if (!isOlder(version, FAILOVER_SINCE)) return binary;
  throw new EnvoyUnavailableError(
    `The demo fails requests over in flight, which needs Envoy ${FAILOVER_SINCE} or newer; ${binary} is ${version}. Unset ENVOY_BIN to fetch one.`,
  );
}

/** There is no place for what the demo fetches and writes. */
export class CacheFolderError extends Error {
  override name = "CacheFolderError";
}

/**
 * Where the demo may write: not into an installed package.
 * @throws CacheFolderError with the remedy
 */
export async function findCacheFolder(repoRoot: string): Promise<string> {
  const folder = (await loadGetEnvoy(repoRoot)).cacheFolder();
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const remedy = "Set LLM_BREAKER_CACHE to a folder that can be written.";
    throw new CacheFolderError(`${folder} can't be written. ${remedy}`, { cause });
  }
  return folder;
}

function loadGetEnvoy(repoRoot: string): Promise<typeof import("../../envoy/get-envoy.mjs")> {
  return import(pathToFileURL(join(repoRoot, "envoy", "get-envoy.mjs")).href);
}

/** Starts Envoy from the repository's root, as the YAML's relative paths want it, and waits until it serves. */
export async function startEnvoy(settings: EnvoySettings): Promise<Child> {
  const logFile = join(settings.logFolder, "envoy.log");
  const child = await startChild({
    name: "Envoy",
    command: settings.binary,
    args: [
      ...[
        "--config-path",
        settings.config,
        "--concurrency",
        String(settings.concurrency),
        "--disable-hot-restart",
      ],
      ...["--log-level", "warning", "--component-log-level", "wasm:info"],
    ],
    cwd: settings.repoRoot,
    logFile,
    onLine: (line) => {
      const transition = parseTransition(line);
      if (transition !== undefined) settings.onTransition(transition);
    },
  });
  const ready = async (): Promise<boolean> => (await fetch(adminUrl(settings.adminPort, "/ready"))).ok;
  try {
    await waitUntilReady(child, "Envoy", logFile, ready);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return child;
}

function adminUrl(port: number, path: string): string {
  return `http://127.0.0.1:${port}${path}`;
}

/** `upstream_rq_total` of each of the clusters; 0 for a cluster that Envoy does not know. */
export async function upstreamRequests(
  adminPort: number,
  clusters: readonly string[],
): Promise<Map<string, number>> {
  const filter = `^cluster\\.(${clusters.join("|")})\\.upstream_rq_total$`;
  const answer = await fetch(adminUrl(adminPort, `/stats?filter=${encodeURIComponent(filter)}`));
  const totals = new Map(clusters.map((cluster) => [cluster, 0]));
  for (const line of (await answer.text()).split("\n")) {
    const match = /^cluster\.(.+)\.upstream_rq_total: (\d+)$/.exec(line);
    if (match?.[1] !== undefined) totals.set(match[1], Number(match[2]));
  }
  return totals;
}

import { noTrigger, patchShipped, staysOpen } from "../e2e/support/rig.js";
import {
  addBackend,
  addRoute,
  chainOf,
  type PolicyJson,
  protocolOf,
  type ShippedConfig,
  shipped,
} from "../e2e/support/shipped-config.js";
import { chat, send } from "../support/client.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import { freePort } from "../support/ports.js";
import { type RunningService, startService } from "../support/service.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";

import { QuickBackend } from "./quick-backend.js";

/** What the control API tells of a backend. */
interface Told {
  readonly state: string;
  readonly mode: string;
  readonly override?: { readonly who: string; readonly why: string };
}

interface Ports {
  readonly grpc: number;
  readonly http: number;
  readonly admin: number;
}

/** One Envoy whose every request is asked about, and its service. `dead` and `public` have chains of their own. */
export class RestartRig {
  private constructor(
    private readonly ports: Ports,
    private readonly gpu: QuickBackend,
    private readonly dead: Upstream,
    public envoy: RunningEnvoy,
    private service: RunningService,
  ) {}

  static async start(): Promise<RestartRig> {
    const ports = { grpc: await freePort(), http: await freePort(), admin: await freePort() };
    const gpu = await QuickBackend.start();
    const dead = await startUpstream({ mode: { kind: "status", status: 500 } });
    const service = await startOn(ports);
    const envoy = await startEnvoyOn(ports, gpu.port, dead.port);
    return new RestartRig(ports, gpu, dead, envoy, service);
  }

  /** How many requests a service was asked about, all processes together; those in vain are left out. */
  async asked(): Promise<number> {
    const stats = await this.envoy.stats("^http\\.llm\\.ext_proc\\.streams_");
    const of = (name: string) => stats.get(`http.llm.ext_proc.streams_${name}`) ?? 0;
    return of("started") - of("failed");
  }

  async restartService(isKilled: boolean): Promise<void> {
    if (isKilled) this.service.signal("SIGKILL");
    await this.service.stop();
    this.service = await startOn(this.ports);
  }

  async restartEnvoy(): Promise<void> {
    await this.envoy.stop();
    this.envoy = await startEnvoyOn(this.ports, this.gpu.port, this.dead.port);
  }

  /** Opens a backend by its own failures. */
  async open(backend: "dead"): Promise<void> {
    const isOpen = async () => {
      await this.statusOf(backend);
      return (await this.see(backend))?.state === "OPEN";
    };
    await waitFor(isOpen, 10_000, `${backend} open`);
  }

  /** Opens a backend by an operator's word. */
  async force(backend: string): Promise<void> {
    const body = JSON.stringify({ for: "10m", why: "test of restarts", who: "tester" });
    const answer = await send(this.adminUrl(`/${backend}/open`), { method: "POST", body });
    if (answer.status >= 300) throw new Error(`the control API answered ${answer.status}: ${answer.text}`);
    await this.told(backend, ({ mode }) => mode === "forcedOpen");
  }

  /** What the service tells of a backend, as soon as it is what is waited for; after 5 s whatever it is. */
  async told(backend: string, isIt: (told: Told) => boolean): Promise<Told> {
    let last: Told = { state: "unknown", mode: "unknown" };
    const look = async () => {
      last = (await this.see(backend)) ?? last;
      return isIt(last);
    };
    await waitFor(look, 5_000).catch(() => {});
    return last;
  }

  async statusOf(backend: string): Promise<number> {
    return (await chat(this.envoy.url(10000, `/${backend}`))).status;
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await this.service.stop();
    await this.gpu.stop();
    await this.dead.stop();
  }

  private async see(backend: string): Promise<Told | undefined> {
    const answer = await send(this.adminUrl(`/${backend}`));
    return answer.status === 200 ? (JSON.parse(answer.text) as Told) : undefined;
  }

  private adminUrl(path: string): string {
    return `http://127.0.0.1:${this.ports.admin}/v1/backends${path}`;
  }
}

function startOn({ grpc, http, admin }: Ports): Promise<RunningService> {
  const listen = { grpc: `127.0.0.1:${grpc}`, http: `127.0.0.1:${http}`, admin: `127.0.0.1:${admin}` };
  const limits = { tokensPerMinute: 1_000_000_000 };
  return startService({ config: { listen, log: { level: "warn" }, limits }, httpPort: http });
}

function startEnvoyOn({ grpc, http }: Ports, gpuPort: number, deadPort: number): Promise<RunningEnvoy> {
  return startEnvoy({
    configFile: "envoy/full.yaml",
    concurrency: 1,
    ports: { 9101: gpuPort, 9102: deadPort, 9103: gpuPort, 9002: grpc, 9003: http },
    patch: (config) => patch(shipped(config), deadPort),
  });
}

function patch(config: ShippedConfig, deadPort: number): void {
  addBackend(config, "dead", "gpu", deadPort);
  for (const alias of ["dead", "public"]) addRoute(config, `/${alias}/`, alias);
  for (const cluster of config.static_resources.clusters) {
    const options = cluster.metadata && protocolOf(cluster);
    if (options)
      options.http_filters = options.http_filters.filter(({ name }) => !/rewrite|guard/.test(name));
  }
  patchShipped(config, { policy }, true);
}

function policy(policy: PolicyJson): void {
  Object.assign(policy.breaker, staysOpen);
  // Only this one is to open by itself, however busy the machine is.
  for (const backend of Object.values(policy.backends)) {
    Object.assign(backend, { rewritesBody: false, breaker: noTrigger });
  }
  policy.backends.dead = {};
  const timeouts = { firstTokenTimeout: "8s", answerTimeout: "15s", stallTimeout: "8s" };
  const chat = { ...chainOf(policy), ...timeouts, limits: true, sameTierRetries: 0, tiers: ["gpu"] };
  const other = (alias: string) => ({ ...chat, limits: false, tiers: [alias] });
  policy.chains = { chat, dead: other("dead"), public: other("public") };
}

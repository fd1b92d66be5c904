import type { BreakerState } from "../../demo/story/transitions.js";
import { shipped } from "../e2e/support/shipped-config.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import { freePort } from "../support/ports.js";
import { type RunningService, startService } from "../support/service.js";
import {
  CLOCK_OFFSET_VARIABLE,
  MEMBER_VARIABLE,
  type Meeting,
  patchGateway,
  peersOf,
} from "./gateway-config.js";
import { Traffic } from "./traffic.js";
import { type Transition, TransitionLog } from "./transitions.js";
import { calm, type Weather } from "./weather.js";

export interface GatewaySettings {
  readonly number: number;
  readonly meeting: Meeting;
  readonly gpuPort: number;
  readonly fallbackPort: number;
  /** What the service's wall clock is off by. */
  readonly clockOffsetMs: number;
}

interface Ports {
  readonly clients: number;
  readonly admin: number;
  readonly grpc: number;
  readonly http: number;
  /** Of the service, where operators command. */
  readonly control: number;
}

/** One Envoy with one worker, its service, and its callers. Each can be killed and started again where it was. */
export class Gateway {
  readonly traffic: Traffic;
  envoy: RunningEnvoy | undefined;
  service: RunningService | undefined;
  private readonly logs: TransitionLog[] = [];
  private weather = calm;

  private constructor(
    private readonly settings: GatewaySettings,
    private readonly ports: Ports,
  ) {
    this.traffic = new Traffic(ports.clients, settings.number + 1);
  }

  static async start(settings: GatewaySettings): Promise<Gateway> {
    const ports = {
      clients: await freePort(),
      admin: await freePort(),
      grpc: await freePort(),
      http: await freePort(),
      control: await freePort(),
    };
    const gateway = new Gateway(settings, ports);
    await gateway.startService();
    await gateway.startEnvoy();
    gateway.traffic.start();
    return gateway;
  }

  get number(): number {
    return this.settings.number;
  }

  get state(): BreakerState {
    return this.logs.at(-1)?.refresh().at(-1)?.to ?? "CLOSED";
  }

  /** Of all its Envoys, one after the other. */
  get transitions(): Transition[] {
    return this.logs.flatMap((log) => log.refresh());
  }

  async startService(): Promise<void> {
    const { number, meeting, clockOffsetMs } = this.settings;
    const { grpc, http, control } = this.ports;
    const listen = {
      grpc: `127.0.0.1:${grpc}`,
      http: `127.0.0.1:${http}`,
      admin: `127.0.0.1:${control}`,
    };
    this.service = await startService({
      config: { listen, log: { level: "warn" }, peers: peersOf(meeting, number) },
      httpPort: http,
      program: "test/fleet/service-main.js",
      environment: { [MEMBER_VARIABLE]: String(number), [CLOCK_OFFSET_VARIABLE]: String(clockOffsetMs) },
    });
    this.service.tell(this.weather);
  }

  async startEnvoy(): Promise<void> {
    const { number, gpuPort, fallbackPort } = this.settings;
    const { clients, admin, grpc, http } = this.ports;
    this.envoy = await startEnvoy({
      configFile: "envoy/full.yaml",
      concurrency: 1,
      ports: { 10000: clients, 9901: admin, 9101: gpuPort, 9102: fallbackPort, 9002: grpc, 9003: http },
      patch: (config) => patchGateway(shipped(config), `gateway-${number}`),
    });
    this.logs.push(new TransitionLog(this.envoy.log, number, "gpu"));
  }

  /** An operator's command at this gateway's service; the status that it is answered with. */
  async command(method: string, path: string, body?: object): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.ports.control}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    await response.body?.cancel();
    return response.status;
  }

  setWeather(weather: Weather): void {
    this.weather = weather;
    this.service?.tell(weather);
  }

  async killService(): Promise<void> {
    this.service?.signal("SIGKILL");
    await this.service?.stop();
    this.service = undefined;
  }

  /** Its callers have turned to other gateways by then. */
  async killEnvoy(): Promise<void> {
    await this.traffic.abandon();
    this.envoy?.signal("SIGKILL");
    await this.envoy?.stop();
    this.envoy = undefined;
  }

  /** Starts what has been killed. */
  async revive(): Promise<void> {
    if (!this.service) await this.startService();
    if (!this.envoy) await this.startEnvoy();
    this.traffic.start();
  }

  async stop(): Promise<void> {
    await this.traffic.stop();
    await this.envoy?.stop();
    await this.service?.stop();
  }
}

import { Group } from "../../../../extproc/peers/group.js";
import type { Advice, BackendReport, Gateway } from "../../../../extproc/sync/contract.js";
import { EventQueue, randomOf } from "./event-queue.js";
import { SimulatedBackend } from "./simulated-backend.js";
import { BACKEND, SimulatedEnvoy } from "./simulated-envoy.js";

export interface SimulationOptions {
  readonly seed: number;
  readonly gateways: number;
  /** Share of messages that are lost on their way to one member. */
  readonly loss?: number;
  /** How far clocks are apart, and how much they run apart. */
  readonly offsetMs?: number;
  readonly rate?: number;
  readonly isFailing: (gateway: string, now: number) => boolean;
  /** Messages go through their bytes: slower. */
  readonly isEncoded?: boolean;
  readonly pauseMs?: number;
  readonly probeMs?: number;
  /** Envoys at each service. */
  readonly envoysPerService?: number;
}

interface Service {
  group: Group | undefined;
  readonly clock: (realMs: number) => number;
  side: number;
  starts: number;
  publishedAtMs: number;
  isPublishing: boolean;
  /** It is stopped until then: it says nothing, and hears afterwards what came meanwhile. */
  stoppedUntilMs: number;
}

/** Services with their Envoys, on virtual time; everything that is random comes from one seed. */
export class Simulation {
  readonly queue = new EventQueue();
  readonly backend: SimulatedBackend;
  readonly services: Service[] = [];
  readonly envoys: SimulatedEnvoy[] = [];
  private readonly random: () => number;
  private divided = false;
  private starts = 0;

  constructor(private readonly options: SimulationOptions) {
    this.random = randomOf(options.seed);
    this.backend = new SimulatedBackend(this.queue, options.isFailing, () => !this.divided);
    for (let i = 0; i < options.gateways; i++) {
      const blank = { side: 0, starts: 0, publishedAtMs: -1000, isPublishing: false, stoppedUntilMs: 0 };
      this.services.push({ group: undefined, clock: this.clock(), ...blank });
      this.startService(i);
      for (let each = 0; each < (options.envoysPerService ?? 1); each++) this.startEnvoy(i);
    }
  }

  run(ms: number): this {
    this.queue.runUntil(this.queue.now + ms);
    return this;
  }

  startService(index: number): void {
    const service = this.serviceAt(index);
    const options = { name: `s${index}`, incarnation: `${++this.starts}`, isGrouped: true };
    const group = new Group({ ...options, now: () => service.clock(this.queue.now) });
    service.group = group;
    group.onChange(() => this.publishSoon(service, group));
    const beat = () => {
      if (service.group !== group) return;
      if (!this.isStopped(service)) this.publish(service, group);
      this.queue.after(1000, beat);
    };
    this.queue.after(this.random() * 1000, beat);
  }

  stopService(index: number): void {
    this.serviceAt(index).group = undefined;
  }

  /** As SIGSTOP and SIGCONT do: its clock goes on. */
  freezeService(index: number, ms: number): void {
    this.serviceAt(index).stoppedUntilMs = this.queue.now + ms;
  }

  /** A gateway's Envoy anew: CLOSED and nothing known, or as the service remembers `before`. */
  startEnvoy(index: number, before?: SimulatedEnvoy): SimulatedEnvoy {
    const service = this.serviceAt(index);
    const ask = (gateway: Gateway, report: BackendReport) =>
      this.isStopped(service) ? undefined : answer(service.group, gateway, report);
    const { queue, random, backend } = this;
    const { pauseMs = 100, probeMs } = this.options;
    const parts = { queue, random, backend, clock: this.clock(), ask, pauseMs, probeMs };
    const envoy = new SimulatedEnvoy(`g${index}`, `p${++this.starts}`, parts);
    if (before) envoy.restore(before);
    this.envoys.push(envoy);
    return envoy;
  }

  /** One of the service's Envoys; which one it was. */
  stopEnvoy(index: number): SimulatedEnvoy | undefined {
    const at = this.envoys.findIndex(({ name }) => name === `g${index}`);
    const [stopped] = at < 0 ? [] : this.envoys.splice(at, 1);
    stopped?.kill();
    return stopped;
  }

  /** The first `count` services hear the others no more. */
  divide(count: number): void {
    this.divided = true;
    for (const [index, service] of this.services.entries()) service.side = index < count ? 1 : 0;
  }

  heal(): void {
    for (const service of this.services) service.side = 0;
  }

  /** From now on, both sides are to blame again for what they do at once. */
  judgeAll(): void {
    this.divided = false;
  }

  states(): string[] {
    return this.envoys.map(({ record }) => (record.stage ? `${record.state} ${record.stage}` : record.state));
  }

  versions(): (number | undefined)[] {
    const groups = this.services.flatMap(({ group }) => group ?? []);
    return groups.map((group) => group.view().backends.find(({ name }) => name === BACKEND)?.version);
  }

  private clock(): (realMs: number) => number {
    const { offsetMs = 0, rate = 0 } = this.options;
    const offset = (this.random() * 2 - 1) * offsetMs;
    const speed = 1 + (this.random() * 2 - 1) * rate;
    return (realMs) => 1_000_000 + offset + realMs * speed;
  }

  private publishSoon(service: Service, group: Group): void {
    if (service.isPublishing) return;
    service.isPublishing = true;
    const sinceMs = this.queue.now - service.publishedAtMs;
    this.queue.after(Math.max(this.random() * 50, 100 - sinceMs), () => {
      service.isPublishing = false;
      if (service.group === group && !this.isStopped(service)) this.publish(service, group);
    });
  }

  private publish(from: Service, group: Group): void {
    from.publishedAtMs = this.queue.now;
    const { isEncoded } = this.options;
    const [message, bytes] = isEncoded ? [undefined, group.write()] : [group.message(), undefined];
    for (const to of this.services) {
      if (to === from || to.side !== from.side || this.random() < (this.options.loss ?? 0)) continue;
      const arrive = (): void => {
        if (this.isStopped(to)) {
          this.queue.after(to.stoppedUntilMs - this.queue.now + this.random() * 50, arrive);
          return;
        }
        if (to.side !== from.side) return;
        if (bytes) to.group?.read(bytes);
        else to.group?.receive(message);
      };
      this.queue.after(2 + this.random() * 60, arrive);
    }
  }

  private isStopped({ stoppedUntilMs }: Service): boolean {
    return this.queue.now < stoppedUntilMs;
  }

  private serviceAt(index: number): Service {
    const service = this.services[index];
    if (service === undefined) throw new Error(`no service ${index}`);
    return service;
  }
}

function answer(group: Group | undefined, gateway: Gateway, report: BackendReport) {
  if (group === undefined) return undefined;
  group.observe(gateway, [report]);
  const advice: Advice = group.advise(gateway, report);
  return { advice, nextMs: group.isBusy ? 250 : 1000 };
}

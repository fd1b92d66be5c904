import { Random } from "../../chaos/random.js";
import { type ExtraBackend, withBackends } from "../../e2e/support/extra-backends.js";
import { type Alias, CLOSED, type Rig, startRig } from "../../e2e/support/rig.js";
import { clusterOf, connectionManager, type ShippedConfig } from "../../e2e/support/shipped-config.js";
import { chat } from "../../support/client.js";
import { forEachOf } from "../support/service-doors.js";
import { throwAt } from "./exchange.js";
import { GoodCaller } from "./good-caller.js";
import { answerBytes, requestBytes } from "./h1.js";
import { connectionBytes } from "./h2.js";
import { RawBackend } from "./raw-backend.js";
import { TolerantBackend } from "./tolerant-backend.js";

const AT_ONCE = 24;
/** A trap in the filter, whoever tells of it. */
const TRAPS =
  /Function: .* failed|Uncaught|unreachable|out of bounds|wasm_fail|\[critical\]|assert failure|Caught /;

export interface HostileSettings {
  readonly seed: number;
  /** Of callers over HTTP/1.1, of callers over HTTP/2, and of backends: so many each. */
  readonly cases: number;
}

export interface HostileReport {
  readonly cases: number;
  readonly answered: number;
  readonly served: number;
  readonly findings: readonly string[];
}

const backends: Record<string, ExtraBackend> = {
  // Whatever a caller does that is taken for a failure opens it.
  touchy: {
    breaker: { consecutiveFailuresThreshold: 1, engineFatal: true, backpressureRateThreshold: 50 },
    // A machine that is busy is no caller's doing.
    chain: { firstTokenTimeout: "30s", answerTimeout: "60s", stallTimeout: "30s" },
  },
  mad: { chain: { tiers: ["mad", "small"] } },
};

/** Hostile callers and backends at a real Envoy with the service, and a good caller beside them. */
export class HostileRig {
  private constructor(
    readonly rig: Rig,
    private readonly mad: RawBackend,
    private readonly tolerant: TolerantBackend,
    private readonly vmsAtStart: string,
  ) {}

  static async start(): Promise<HostileRig> {
    const [mad, tolerant] = [new RawBackend(), new TolerantBackend()];
    await Promise.all([mad.listen(), tolerant.listen()]);
    const settings = withBackends(backends, {
      patch: (config) => {
        moveTo(config, "mad", mad.port);
        moveTo(config, "touchy", tolerant.port);
        // Whatever their path, hostile callers come to the touchy one; the others have prefixes of their own.
        const routes = connectionManager(config).route_config.virtual_hosts[0]?.routes ?? [];
        const touchy = routes.find(({ match }) => match.prefix === "/touchy/");
        const last = routes.at(-1);
        if (last && touchy) Object.assign(last, { metadata: touchy.metadata });
        Object.assign(connectionManager(config), {
          http_protocol_options: {
            enable_trailers: true,
            accept_http_10: true,
            default_host_for_http_10: "x",
          },
        });
      },
    });
    const rig = await startRig({
      ...settings,
      service: true,
      concurrency: 1,
      fixedPorts: [mad.port, tolerant.port],
    });
    return new HostileRig(rig, mad, tolerant, await vmStats(rig));
  }

  async stop(): Promise<void> {
    await this.rig.stop();
    this.mad.stop();
    this.tolerant.stop();
  }

  callers({ seed, cases }: HostileSettings): Promise<HostileReport> {
    const seeds = Array.from({ length: 2 * cases }, (_, index) => `${seed}/caller/${index}`);
    return this.watched(`${this.rig.url}/touchy`, "touchy", seeds, async (each, index) => {
      const random = new Random(each);
      const bytes = index % 2 === 0 ? Buffer.from(requestBytes(random), "latin1") : connectionBytes(random);
      return await throwAt(this.rig.url, bytes, random);
    });
  }

  backends({ seed, cases }: HostileSettings): Promise<HostileReport> {
    const seeds = Array.from({ length: cases }, (_, index) => `${seed}/backend/${index}`);
    let next = 0;
    this.mad.answer = () =>
      Buffer.from(answerBytes(new Random(`${seed}/backend/${next++ % cases}`)), "latin1");
    return this.watched(`${this.rig.url}/touchy`, "touchy", seeds, async (each, index) => {
      const answer = await chat(`${this.rig.url}/mad`, { stream: index % 2 === 0, timeoutMs: 20_000 });
      if (answer.status === 0) throw new Error(`${each}: no answer, ${answer.brokenBy}`);
      return true;
    });
  }

  /** Lets each of `seeds` happen, a good caller beside them, and tells what they did. */
  private async watched(
    url: string,
    backend: string,
    seeds: readonly string[],
    happen: (seed: string, index: number) => Promise<boolean>,
  ): Promise<HostileReport> {
    const findings: string[] = [];
    const { envoy } = this.rig;
    const logged = envoy.logLines.length;
    const good = new GoodCaller(url, backend);
    let answered = 0;
    await forEachOf(seeds, AT_ONCE, async (seed, index) => {
      if (envoy.exit !== undefined) return;
      try {
        if (await happen(seed, index)) answered++;
      } catch (error) {
        findings.push((error as Error).message);
      }
      if (envoy.exit !== undefined) findings.push(`Envoy ended (${envoy.exit}) about ${seed}`);
    });
    await good.leave();
    findings.push(...good.complaints.slice(0, 5).map((each) => `the good caller got ${each}`));
    if (envoy.exit !== undefined) return { cases: seeds.length, answered, served: good.asked, findings };
    findings.push(
      ...envoy.logLines
        .slice(logged)
        .filter((line) => TRAPS.test(line))
        .slice(0, 5),
    );
    const vms = await vmStats(this.rig);
    if (vms !== this.vmsAtStart) findings.push(`VMs were ${this.vmsAtStart}, are ${vms}`);
    if ((await this.rig.state("touchy" as Alias)) !== CLOSED)
      findings.push(`touchy is open: ${this.openings()}`);
    return { cases: seeds.length, answered, served: good.asked, findings };
  }

  private openings(): string {
    return JSON.stringify(this.rig.transitions("touchy" as Alias).map(({ cause }) => cause));
  }
}

function moveTo(config: ShippedConfig, name: string, port: number): void {
  const [real] = clusterOf(config, name).load_assignment.endpoints;
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  if (real) real.lb_endpoints = [{ endpoint: { address } }];
}

/** Every VM that there is, was made, or failed: a restart shows. */
async function vmStats(rig: Rig): Promise<string> {
  const stats = [...(await rig.envoy.stats("^wasm\\."))].filter(([name]) => !name.includes("remote_load"));
  if (!stats.some(([, value]) => value > 0)) throw new Error("there are no VMs to look at");
  return stats.map(([name, value]) => `${name}=${value}`).join(" ");
}

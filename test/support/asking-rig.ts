import { type Ask, countedHeader, linesConfig } from "./asking-envoy.js";
import { type Answer, send } from "./client.js";
import { type RunningEnvoy, startEnvoy } from "./envoy.js";
import { freePort } from "./ports.js";
import { type RunningService, startService } from "./service.js";
import { startUpstream, type Upstream } from "./upstream.js";

/** An Envoy that asks the service about every request, without any other filter of ours. */
export class AskingRig {
  constructor(
    readonly port: number,
    readonly envoy: RunningEnvoy,
    readonly upstream: Upstream,
    readonly serve: () => Promise<RunningService>,
    public service: RunningService,
  ) {}

  /** A completion of that many tokens, whose answer tells what was counted. */
  ask(tokens: number, headers: Record<string, string> = {}): Promise<Answer> {
    return send(`http://127.0.0.1:${this.port}${path}`, {
      body: completionOf(tokens),
      headers: { "content-type": "application/json", ...headers },
    });
  }

  /** The same service once more on the same ports, after it was stopped. */
  async startServiceAgain(): Promise<void> {
    this.service = await this.serve();
  }

  /** One of ext_proc's counters. */
  asked(name: string): Promise<number> {
    return this.envoy.stat(`http.${lineName}.ext_proc.${name}`);
  }

  connections(name: string): Promise<number> {
    return this.envoy.stat(`cluster.${lineName}.${name}`);
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await this.service.stop();
    await this.upstream.stop();
  }
}

const lineName = "line";

export const path = "/v1/completions";

export function completionOf(tokens: number): string {
  return JSON.stringify({ model: "qwen3-32b", prompt: Array<number>(tokens).fill(1) });
}

/** What the service counted for this answer's request; undefined when it was not asked, or not in time. */
export function countedBy(answer: Answer): number | undefined {
  const text = answer.headers[countedHeader];
  return text === undefined || text === "-" ? undefined : Number(text);
}

export interface AskingSettings extends Partial<Omit<Ask, "servicePort">> {
  /** Of the service, beside its ports. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function startAskingRig({ config, ...ask }: AskingSettings = {}): Promise<AskingRig> {
  const grpcPort = await freePort();
  const httpPort = await freePort();
  const listen = { grpc: `127.0.0.1:${grpcPort}`, http: `127.0.0.1:${httpPort}`, admin: "off" };
  const serve = () => startService({ config: { listen, log: { level: "warn" }, ...config }, httpPort });
  const upstream = await startUpstream();
  const service = await serve();
  const port = await freePort();
  const line = { name: lineName, port, ask: { role: "count", servicePort: grpcPort, ...ask } };
  const envoy = await startEnvoy({
    config: linesConfig(await freePort(), [line], upstream.port),
    concurrency: 1,
  });
  return new AskingRig(port, envoy, upstream, serve, service);
}

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
    readonly servicePorts: { readonly grpc: number; readonly http: number },
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
    this.service = await serve(this.servicePorts);
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

export async function startAskingRig(settings: Partial<Omit<Ask, "servicePort">> = {}): Promise<AskingRig> {
  const servicePorts = { grpc: await freePort(), http: await freePort() };
  const upstream = await startUpstream();
  const service = await serve(servicePorts);
  const port = await freePort();
  const ask = { role: "count", servicePort: servicePorts.grpc, ...settings };
  const config = linesConfig(await freePort(), [{ name: lineName, port, ask }], upstream.port);
  const envoy = await startEnvoy({ config, concurrency: 1 });
  return new AskingRig(port, envoy, upstream, servicePorts, service);
}

function serve({ grpc, http }: AskingRig["servicePorts"]): Promise<RunningService> {
  const listen = { grpc: `127.0.0.1:${grpc}`, http: `127.0.0.1:${http}` };
  return startService({ config: { listen, log: { level: "warn" } }, httpPort: http });
}

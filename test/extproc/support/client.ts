import grpc from "@grpc/grpc-js";
import { CANARY_ATTRIBUTE } from "../../../extproc/count/canary-ask.js";
import { ROLE_HEADER } from "../../../extproc/grpc-server.js";
import type { WireStruct } from "../../../extproc/messages.js";
import { type Service, startService } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import type { ProcessingRequest, ProcessingResponse } from "./processing.js";
import { loadExternalProcessor, loadHealth } from "./protos.js";

const PROCESSOR = loadExternalProcessor();
const HEALTH = loadHealth();

type Duplex = grpc.ClientDuplexStream<ProcessingRequest, ProcessingResponse>;

export const CANARY_LIMITS = '{"maxPromptTokens":256,"maxOutputTokens":1024}';

/** Attributes as Envoy files them. */
export function attributes(values: Record<string, string>): Record<string, WireStruct> {
  const fields = Object.fromEntries(
    Object.entries(values).map(([name, stringValue]) => [name, { stringValue }]),
  );
  return { "envoy.filters.http.ext_proc": { fields } };
}

/** A cluster's metadata as Envoy prints them: protobuf text, the values C-escaped. */
export function clusterMetadata(values: Record<string, string>): Record<string, string> {
  const fields = Object.entries(values).map(
    ([key, value]) => `fields { key: "${key}" value { string_value: "${escapeText(value)}" } }`,
  );
  const text = `filter_metadata { key: "llm.breaker" value { ${fields.join(" ")} } }`;
  return { "xds.cluster_metadata": text };
}

function escapeText(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (byte < 0x20 || byte > 0x7e) return `\\${byte.toString(8).padStart(3, "0")}`;
      return /["'\\]/.test(character) ? `\\${character}` : character;
    })
    .join("");
}

/** Request headers as Envoy sends them: names in `key`, bytes in `raw_value`. */
export function headersMessage(
  headers: Record<string, string>,
  given: { attributes?: Record<string, string>; isWhole?: boolean } = {},
): ProcessingRequest {
  const list = Object.entries(headers).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }));
  return {
    request_headers: { headers: { headers: list }, end_of_stream: given.isWhole ?? false },
    attributes: attributes(given.attributes ?? {}),
  };
}

export function bodyMessage(body: Buffer | string): ProcessingRequest {
  return { request_body: { body: Buffer.from(body), end_of_stream: true } };
}

/** One stream, spoken to as Envoy does: a message, then its answer. */
export class StreamClient {
  private readonly answers: AsyncIterator<ProcessingResponse>;

  constructor(readonly call: Duplex) {
    this.answers = call[Symbol.asyncIterator]() as AsyncIterator<ProcessingResponse>;
  }

  async ask(message: ProcessingRequest): Promise<ProcessingResponse> {
    this.call.write(message);
    const { value, done } = await this.answers.next();
    if (done) throw new Error("the service ended the stream without an answer");
    return value;
  }

  /** True when the service ended the call by itself, with OK. */
  async hasEnded(): Promise<boolean> {
    return (await this.answers.next()).done === true;
  }
}

export class ServiceClient {
  private readonly processor: grpc.Client;
  private readonly health: grpc.Client;

  constructor(readonly address: string) {
    const credentials = grpc.credentials.createInsecure();
    const large = { "grpc.max_send_message_length": -1, "grpc.max_receive_message_length": -1 };
    this.processor = new (grpc.makeGenericClientConstructor(PROCESSOR, "p"))(address, credentials, large);
    this.health = new (grpc.makeGenericClientConstructor(HEALTH, "h"))(address, credentials);
  }

  open(role: string, more: Readonly<Record<string, string>> = {}): StreamClient {
    const metadata = new grpc.Metadata();
    metadata.set(ROLE_HEADER, role);
    for (const [name, value] of Object.entries(more)) metadata.set(name, value);
    const { path, requestSerialize, responseDeserialize } = method(PROCESSOR, "Process");
    return new StreamClient(
      this.processor.makeBidiStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        metadata,
        {},
      ) as Duplex,
    );
  }

  /** The dynamic metadata of `count` for one request, as plain values. */
  async count(
    path: string,
    body: Buffer | string,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const stream = this.open("count");
    const given = { attributes: { [CANARY_ATTRIBUTE]: CANARY_LIMITS } };
    await stream.ask(headersMessage({ ":method": "POST", ":path": path, ...headers }, given));
    const answer = await stream.ask(bodyMessage(body));
    stream.call.cancel();
    return plainMetadata(answer);
  }

  async check(service = ""): Promise<string> {
    const { path, requestSerialize, responseDeserialize } = method(HEALTH, "Check");
    return new Promise((resolve, reject) => {
      this.health.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { service },
        (cause, value) => {
          if (cause) reject(cause);
          else resolve((value as { status: string }).status);
        },
      );
    });
  }

  /** A health watch: the statuses as they come. */
  watch(): AsyncIterator<{ status: string }> {
    const { path, requestSerialize, responseDeserialize } = method(HEALTH, "Watch");
    const call = this.health.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {
      service: "",
    });
    return call[Symbol.asyncIterator]() as AsyncIterator<{ status: string }>;
  }

  close(): void {
    this.processor.close();
    this.health.close();
  }
}

/** The service on free ports, without log lines, and a client for it. */
export async function startForTest(
  raw: Record<string, unknown> = {},
): Promise<{ service: Service; client: ServiceClient }> {
  const listen = { grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "127.0.0.1:0" };
  const service = await startService(parseConfig({ listen, log: { level: "silent" }, ...raw }));
  return { service, client: new ServiceClient(service.grpcAddress) };
}

/** Our namespace of an answer's dynamic metadata. */
export function plainMetadata(answer: ProcessingResponse): Record<string, unknown> {
  const struct = answer.dynamic_metadata?.fields?.["llm.breaker"]?.structValue?.fields ?? {};
  return Object.fromEntries(
    Object.entries(struct).map(([name, value]) => [
      name,
      value.numberValue ?? value.stringValue ?? value.boolValue,
    ]),
  );
}

/** Waits for a call that was cancelled to be over on the client's side. */
export async function settled(call: Duplex): Promise<void> {
  call.on("error", () => {});
  call.resume();
  await new Promise((resolve) => call.on("status", resolve));
}

function method(service: grpc.ServiceDefinition, name: string) {
  const definition = service[name];
  if (definition === undefined) throw new Error(`no method ${name}`);
  return definition;
}

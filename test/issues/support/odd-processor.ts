import grpc from "@grpc/grpc-js";
import type { ProcessingRequest, ProcessingResponse } from "../../extproc/support/processing.js";
import { loadExternalProcessor } from "../../extproc/support/protos.js";

type Call = grpc.ServerDuplexStream<ProcessingRequest, ProcessingResponse>;

/** How it answers a count: every body is a canary of one token, or should be. */
export type Manner =
  | "well"
  | "slow"
  /** With the answer to a message that nobody has sent. */
  | "wrongType"
  /** Its facts are in a namespace that Envoy was not told to take. */
  | "otherNamespace"
  /** Takes the message, and says nothing. */
  | "silent";

const slowMs = 300;
const facts = { promptTokens: { numberValue: 1 }, exact: { boolValue: true }, canary: { boolValue: true } };

/** An ext_proc server on 127.0.0.1 with one bad habit at a time. */
export class OddProcessor {
  manner: Manner = "well";
  /** Messages that came since this was set to 0. */
  messages = 0;
  readonly #server = new grpc.Server();

  constructor() {
    this.#server.addService(loadExternalProcessor(), { Process: (call: Call) => this.#serve(call) });
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      this.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #serve(call: Call): void {
    call.on("error", () => {});
    call.on("end", () => call.end());
    call.on("data", (message: ProcessingRequest) => {
      this.messages++;
      const answer = this.#answer(message);
      if (!answer) return;
      if (this.manner === "slow") setTimeout(() => call.write(answer), slowMs);
      else call.write(answer);
    });
  }

  #answer(message: ProcessingRequest): ProcessingResponse | undefined {
    if (this.manner === "silent") return undefined;
    if (this.manner === "wrongType") return { response_headers: {} };
    if (message.request !== "request_body") return { request_headers: {} };
    const namespace = this.manner === "otherNamespace" ? "elsewhere" : "llm.breaker";
    return {
      request_body: {},
      dynamic_metadata: { fields: { [namespace]: { structValue: { fields: facts } } } },
    };
  }
}

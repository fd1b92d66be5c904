import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";

const model = "qwen3-32b";
const answer = completionJson(model, "Hello.");
const events = [roleEvent(model), tokenEvent(model, "Hello."), finishEvent(model), doneEvent].join("");
const answerMs = 5;
/** Connections stay, however long: one that is closed as it is used again would be a failure of the backend. */
const patience = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };

/** Answers every chat well and keeps nothing, for many requests a second. */
export class QuickBackend {
  private readonly server = createServer(patience, (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => setTimeout(() => reply(body, response), answerMs));
  });

  static async start(): Promise<QuickBackend> {
    const backend = new QuickBackend();
    await new Promise<void>((resolve) => backend.server.listen(0, "127.0.0.1", resolve));
    return backend;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

function reply(body: string, response: ServerResponse): void {
  const isStream = body.includes('"stream":true');
  response.setHeader("content-type", isStream ? "text/event-stream" : "application/json");
  response.end(isStream ? events : answer);
}

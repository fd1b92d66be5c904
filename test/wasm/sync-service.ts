import assert from "node:assert/strict";
import {
  decodeRequest,
  encodeResponse,
  type GivenDirective,
  type GivenResponse,
  type SentReport,
  type SentRequest,
} from "../support/sync-messages.js";
import type { HttpCall } from "./host/http-call.js";
import type { World } from "./host/world.js";

/** The service at the other end of the mock host: sees every request of the filter's sync and answers it as a test wants. */
export class SyncService {
  readonly #world: World;
  readonly #cluster: string;
  #seen = 0;

  constructor(world: World, cluster = "service") {
    this.#world = world;
    this.#cluster = cluster;
  }

  /** All requests so far. */
  get calls(): readonly HttpCall[] {
    return this.#world.httpCalls.filter(({ cluster }) => cluster === this.#cluster);
  }

  get requests(): readonly SentRequest[] {
    return this.calls.map(({ body }) => decodeRequest(body));
  }

  /** Those that were not taken by this before. */
  takeCalls(): readonly HttpCall[] {
    const fresh = this.calls.slice(this.#seen);
    this.#seen += fresh.length;
    return fresh;
  }

  get last(): { call: HttpCall; request: SentRequest } {
    const call = this.calls.at(-1);
    assert.ok(call, "the service was not asked");
    return { call, request: decodeRequest(call.body) };
  }

  /** A backend as the last request tells it. */
  report(name: string): SentReport {
    const report = this.last.request.backends.find((each) => each.name === name);
    assert.ok(report, `no report of ${name}`);
    return report;
  }

  answer(call: HttpCall, directives: readonly GivenDirective[] = [], more: GivenResponse = {}): void {
    const { sequence } = decodeRequest(call.body);
    this.answerBytes(call, encodeResponse({ sequence, directives, ...more }));
  }

  answerBytes(call: HttpCall, bytes: Buffer, status = "200"): void {
    call.vm.answerHttpCall(call, { ":status": status }, bytes);
  }
}

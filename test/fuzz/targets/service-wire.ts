// Protobuf and its framing, as gateways, peers and Envoy send it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { FramingError, frame, HEAD_BYTES, MessageSplitter } from "../../../extproc/grpc/framing.js";
import { Freshness } from "../../../extproc/peers/freshness.js";
import { parseKeys } from "../../../extproc/peers/keys.js";
import { readPeerMessage } from "../../../extproc/peers/message-reader.js";
import { writePeerMessage } from "../../../extproc/peers/message-writer.js";
import { Seal } from "../../../extproc/peers/seal.js";
import { loadAccessLog } from "../../../extproc/protos.js";
import { readRequestEnd } from "../../../extproc/usage/access-log-entry.js";
import { readHealthRequest } from "../../../extproc/wire/health.js";
import { readProcessingRequest } from "../../../extproc/wire/processing-request.js";
import { WireError } from "../../../extproc/wire/reader.js";
import { readSyncRequest } from "../../../extproc/wire/sync-request.js";
import { peerMessage } from "../../extproc/peers/support/messages.js";
import { accessLogEntry } from "../../extproc/support/access-log.js";
import { loadExternalProcessor } from "../../extproc/support/protos.js";
import { encodeRequest, report, request } from "../../extproc/support/sync-messages.js";
import { cutAnywhere } from "../support/pieces.js";
import { sessionOf, toBuffers, unlessDeclared } from "../support/plain-session.js";
import { sizeClass } from "../support/told.js";
import type { Target } from "../target.js";

const NAMESPACE = "envoy.filters.http.ext_proc";
const headers = (...pairs: [string, string][]) => ({
  headers: { headers: pairs.map(([key, value]) => ({ key, raw_value: Buffer.from(value) })) },
  end_of_stream: false,
});

function processingSeeds(): Buffer[] {
  const { Process } = loadExternalProcessor();
  const attributes = {
    [NAMESPACE]: {
      fields: { "request.path": { stringValue: "/v1" }, "xds.cluster_metadata": { stringValue: "a" } },
    },
  };
  return [
    {
      request_headers: headers([":path", "/v1/chat/completions"], ["authorization", "Bearer k"]),
      attributes,
    },
    { request_body: { body: Buffer.from('{"model":"m"}'), end_of_stream: true } },
    { response_headers: headers([":status", "200"]), observability_mode: true },
    { response_body: { body: Buffer.from("data: {}"), end_of_stream: false } },
    { request_trailers: {} },
  ].map((message) => Process?.requestSerialize(message) ?? Buffer.alloc(0));
}

export const serviceProcessing: Target = {
  name: "service-processing",
  parsers: [
    "extproc/wire/processing-request.ts",
    "extproc/wire/reader.ts",
    "extproc/wire/health.ts",
    "extproc/request-headers.ts",
  ],
  seeds: processingSeeds(),
  open: sessionOf((bytes) => {
    unlessDeclared(() => readHealthRequest(bytes), WireError);
    const message = unlessDeclared(() => readProcessingRequest(bytes), WireError);
    if (message === undefined) return "";
    assert.ok(message.body.length <= bytes.length, "more body than bytes");
    const { kind, isEnd, isObserved } = message;
    return `${kind},${isEnd},${isObserved},${sizeClass(message.headers.size)},${sizeClass(message.attributes.size)}`;
  }),
};

const MAX_MESSAGE_BYTES = 600;

function framed(...messages: readonly Buffer[]): Buffer {
  return Buffer.concat(messages.map((each) => frame(Buffer.concat([Buffer.alloc(HEAD_BYTES), each]))));
}

export const serviceFraming: Target = {
  name: "service-framing",
  parsers: ["extproc/grpc/framing.ts"],
  seeds: [framed(Buffer.from("a"), Buffer.alloc(300, "b"), Buffer.alloc(0)), framed(Buffer.alloc(590, "c"))],
  open: sessionOf((bytes, random) => {
    const whole = messagesOf([bytes]);
    assert.equal(messagesOf(cutAnywhere(bytes, random)), whole, "cut otherwise it tells something else");
    return whole === "" ? "" : String(whole.length);
  }),
};

function messagesOf(pieces: readonly Buffer[]): string {
  const splitter = new MessageSplitter(MAX_MESSAGE_BYTES);
  const sizes: string[] = [];
  const isWhole = unlessDeclared(() => {
    for (const piece of pieces) {
      splitter.feed(piece, (message) => {
        if (message.length > MAX_MESSAGE_BYTES) assert.fail("a message without a bound");
        sizes.push(`${message.length}:${message.subarray(0, 4).toString("hex")}`);
      });
    }
    return true;
  }, FramingError);
  return sizes.join() + (isWhole === undefined ? "!" : "");
}

const transitions = [
  {
    generation: 2,
    from: "CLOSED",
    to: "OPEN",
    stage: 0,
    cause: "FAILURE_RATE",
    openings: 1,
    ageMs: 5,
    waitMs: 9,
  },
].map((some) => ({ ...some, calls: 3, weightedFailures: 300, consecutiveFailures: 3 }) as never);

export const serviceSync: Target = {
  name: "service-sync",
  parsers: ["extproc/wire/sync-request.ts", "extproc/wire/fields.ts", "extproc/wire/sync-names.ts"],
  seeds: [
    request([report("gpu", { transitions }), report("small", { state: "OPEN" })]),
    request([], { chains: [{ name: "chat", tiers: ["gpu", "small"] } as never], asksRestore: true }),
  ].map(encodeRequest),
  open: sessionOf((bytes) => {
    const told = unlessDeclared(() => readSyncRequest(bytes), WireError);
    if (told === undefined) return "";
    const { backends, chains, sequence } = told;
    assert.ok(Number.isSafeInteger(sequence) && sequence >= 0, "an odd number");
    const [first] = backends;
    return `${backends.length},${chains.length},${first?.state},${first?.mode},${first?.transitions.length},${first?.cause}`;
  }),
};

const peerMessages = fc.sample(peerMessage, { numRuns: 80, seed: 11 }).map(writePeerMessage);
const MAX_BACKENDS = 512;
/** More backends than anybody may tell of, each without a word. */
const manyBackends = Buffer.alloc(2 * (MAX_BACKENDS + 8), Buffer.from([0x2a, 0x00]));

export const serviceGossip: Target = {
  name: "service-gossip",
  parsers: ["extproc/peers/message-reader.ts", "extproc/peers/message-writer.ts", "extproc/peers/version.ts"],
  seeds: [...peerMessages, ...peerMessages.slice(0, 8).map((each) => Buffer.concat([each, manyBackends]))],
  open: sessionOf((bytes) => {
    const told = unlessDeclared(() => readPeerMessage(bytes), WireError);
    if (told === undefined) return "";
    assert.ok(told.backends.length <= MAX_BACKENDS, "backends without a bound");
    // Text that was no UTF-8 is one afterwards.
    const again = readPeerMessage(writePeerMessage(told));
    assert.deepEqual(again, told, "written and read again it is another one");
    const [first] = told.backends;
    return `${sizeClass(told.backends.length)},${sizeClass(told.overrides.length)},${first?.readiness},${first?.register?.cause},${first?.gateways.length}`;
  }),
};

const SECRETS = ["a", "b"].map((letter) => letter.repeat(40));
const keys = parseKeys(SECRETS.join("\n"));
const seal = new Seal(keys);
const message = Buffer.from("what members tell each other");

export const serviceSeal: Target = {
  name: "service-seal",
  parsers: ["extproc/peers/seal.ts", "extproc/peers/freshness.ts", "extproc/peers/keys.ts"],
  seeds: [seal.close(message), new Seal([...keys].reverse()).close(message), randomBytes(60)],
  maxBytes: 400,
  open: () => {
    let nowMs = 0;
    const freshness = new Freshness(() => nowMs);
    const known = new Set([...serviceSeal.seeds].map((seed) => seed.toString("latin1")));
    return {
      run: (bytes) => {
        nowMs += 1;
        const opened = seal.open(bytes);
        if (opened !== undefined)
          assert.ok(known.has(bytes.toString("latin1")), "a forged message is opened");
        const unwrapped = freshness.unwrap(bytes);
        assert.ok(unwrapped?.kind !== "message", "what we have not answered is taken for new");
        assert.ok(freshness.size <= 256, "more members than a group has");
        return `${opened !== undefined},${unwrapped?.kind}`;
      },
    };
  },
};

export const serviceKeys: Target = {
  name: "service-keys",
  parsers: ["extproc/peers/keys.ts"],
  seeds: toBuffers([SECRETS.join("\n"), `${SECRETS[0]}\r\n`, "short"]),
  words: ["\n", "\r\n", " ", "a".repeat(32)],
  maxBytes: 300,
  // A secret is a line of an operator's file; to derive a key takes as long as HKDF takes.
  linearBytes: 0,
  open: sessionOf((bytes) => {
    try {
      return String(parseKeys(bytes.toString("utf8")).length);
    } catch (cause) {
      const { name, message: words } = cause as Error;
      assert.equal(name, "ConfigError");
      const secret = bytes.toString("utf8").trim();
      assert.ok(secret.length < 16 || !words.includes(secret), "the secret is told");
      return "";
    }
  }),
};

const { StreamAccessLogs } = loadAccessLog();
const USAGE = '{"prompt":12,"completion":34,"backend":"gpu"}';

export const serviceAccessLog: Target = {
  name: "service-access-log",
  parsers: ["extproc/usage/access-log-entry.ts"],
  seeds: [{ usage: USAGE }, { status: 503, flags: { downstream_remote_reset: true } }, { type: 6 }].map(
    (parts) => {
      const http_logs = { log_entry: [accessLogEntry(parts)] };
      return StreamAccessLogs?.requestSerialize({ http_logs }) ?? Buffer.alloc(0);
    },
  ),
  words: ['{"prompt":', '"completion":', "1e9", "-1", "0.5"],
  // protobufjs reads it, of which nothing here is ours to answer for.
  linearBytes: 0,
  open: sessionOf((bytes) => {
    let entries: unknown[];
    try {
      const logs = StreamAccessLogs?.requestDeserialize(bytes) as { http_logs?: { log_entry?: unknown[] } };
      entries = logs.http_logs?.log_entry ?? [];
    } catch {
      return "";
    }
    return entries
      .map((entry) => {
        const end = readRequestEnd(entry as never);
        if (end === undefined) return "none";
        const { usage, status, callerLeft } = end;
        assert.ok(
          usage === undefined || (Number.isInteger(usage) && usage >= 0 && usage <= 2e9),
          "odd usage",
        );
        return `${usage === undefined ? "" : sizeClass(usage)}/${sizeClass(status)}/${callerLeft}`;
      })
      .slice(0, 3)
      .join();
  }),
};

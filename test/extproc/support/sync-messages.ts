// The messages of sync.proto as Google's definitions of protobuf write and read them: the other side of our own codec.
import { join } from "node:path";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import { findRepoRoot } from "../../../extproc/root.js";
import { blankReport } from "../../../extproc/sync/blank.js";
import type { BackendReport, Load, Mode, Override, SyncRequest } from "../../../extproc/sync/contract.js";
import { causeNumber } from "../../../extproc/wire/sync-names.js";

type Plain = Record<string, unknown>;

const FILE = join(findRepoRoot(), "proto", "llm_breaker", "v1", "sync.proto");
const DEFINITIONS = loadSync(FILE, { longs: Number, enums: String, defaults: true, arrays: true });

function definitionOf(name: string): MessageTypeDefinition<Plain, Plain> {
  return DEFINITIONS[`llm_breaker.v1.${name}`] as unknown as MessageTypeDefinition<Plain, Plain>;
}

/** What a gateway sends. */
export function encodeRequest(request: SyncRequest): Buffer {
  return definitionOf("SyncRequest").serialize({ ...request, backends: request.backends.map(reportToWire) });
}

/** What a gateway reads: names as in sync.proto, in camel case; what is absent has its default, messages are null. */
export function decodeResponse(bytes: Buffer): Plain & { directives: Plain[] } {
  return definitionOf("SyncResponse").deserialize(bytes) as Plain & { directives: Plain[] };
}

export function modeToWire(mode: Mode): string {
  return mode.replace(/[A-Z]/g, "_$&").toUpperCase();
}

function reportToWire(report: BackendReport): Plain {
  const { cause, mode, policyMode, override, load, transitions, ...rest } = report;
  return {
    ...rest,
    cause: causeNumber(cause),
    mode: modeToWire(mode),
    policyMode: modeToWire(policyMode),
    ...(override && { override: overrideToWire(override) }),
    ...(load && { load: loadToWire(load) }),
    transitions: transitions.map((transition) => ({ ...transition, cause: causeNumber(transition.cause) })),
  };
}

export function overrideToWire(override: Override): Plain {
  return { ...override, mode: modeToWire(override.mode) };
}

function loadToWire({ kvCacheUse, waiting, ageMs }: Load): Plain {
  return {
    kvCacheUse: kvCacheUse === undefined ? 0 : 1 + Math.round(kvCacheUse * 1000),
    waiting: waiting === undefined ? 0 : 1 + waiting,
    ageMs,
  };
}

/** A backend that is well, but for what is given. */
export function report(name: string, given: Partial<BackendReport> = {}): BackendReport {
  const lease = { probeLeaseMs: 10_000, probeTimeoutMs: 5_000 };
  return { ...blankReport(name), generation: 1, ...lease, ...given };
}

/** What a gateway sends, but for what is given. */
export function request(backends: readonly BackendReport[], given: Partial<SyncRequest> = {}): SyncRequest {
  return {
    process: "00000000000000aa",
    node: "gateway-a",
    policy: "chat",
    policyHash: "0123456789abcdef",
    sequence: 1,
    asksRestore: false,
    chains: [],
    backends,
    ...given,
  };
}

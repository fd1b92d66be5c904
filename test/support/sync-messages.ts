import { join } from "node:path";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import { findRepoRoot } from "./repo-root.js";

// proto/llm_breaker/v1/sync.proto as a library reads and writes it: what the filter does by hand is held against it.

export interface SentSecond {
  readonly ageMs: number;
  readonly calls: number;
  readonly failures: number;
}

export interface SentTransition {
  readonly generation: number;
  readonly from: string;
  readonly to: string;
  readonly cause: number;
  readonly openings: number;
  readonly ageMs: number;
  readonly waitMs: number;
  readonly calls: number;
  readonly consecutiveFailures: number;
}

export interface SentOverride {
  readonly mode?: string | number;
  readonly remainingMs?: number;
  readonly version?: number;
  readonly isWithdrawn?: boolean;
  readonly who?: string;
  readonly why?: string;
}

/** A backend's report as it arrives; what was left out has its default. */
export interface SentReport {
  readonly name: string;
  readonly state: "CLOSED" | "OPEN" | "HALF_OPEN";
  readonly stage: number;
  readonly generation: number;
  readonly openings: number;
  readonly cause: number;
  readonly stateAgeMs: number;
  readonly waitRemainingMs: number;
  readonly isEvidence: boolean;
  readonly track: number;
  readonly mode: string;
  readonly policyMode: string;
  readonly override: SentOverride | null;
  readonly window: Readonly<Record<string, number>>;
  readonly seconds: readonly SentSecond[];
  readonly transitions: readonly SentTransition[];
  readonly livePermits: number;
  readonly stageCap: number;
  readonly probeLeaseMs: number;
  readonly probeTimeoutMs: number;
  readonly counters: Readonly<Record<string, number>>;
  readonly latency: Readonly<Record<string, number>> | null;
}

export interface SentRequest {
  readonly process: string;
  readonly node: string;
  readonly policy: string;
  readonly policyHash: string;
  readonly sequence: number;
  readonly asksRestore: boolean;
  readonly backends: readonly SentReport[];
  readonly chains: readonly { readonly name: string; readonly tiers: readonly string[] }[];
}

/** What a service may answer about one backend; all but the name may be left out. */
export interface GivenDirective {
  readonly name: string;
  readonly acknowledgedGeneration?: number;
  readonly override?: SentOverride;
  readonly signals?: Readonly<Record<string, number | boolean>>;
  readonly group?: Readonly<Record<string, number>>;
  readonly move?: Readonly<Record<string, number | boolean | string>>;
  readonly summary?: Readonly<Record<string, number | boolean | string>>;
}

export interface GivenResponse {
  readonly sequence?: number;
  readonly directives?: readonly GivenDirective[];
  readonly nextMs?: number;
}

const definitions = loadSync("llm_breaker/v1/sync.proto", {
  includeDirs: [join(findRepoRoot(), "proto")],
  longs: Number,
  enums: String,
  defaults: true,
});

function messageOf<T extends object>(name: string): MessageTypeDefinition<T, T> {
  return definitions[`llm_breaker.v1.${name}`] as unknown as MessageTypeDefinition<T, T>;
}

export function decodeRequest(body: Buffer): SentRequest {
  return messageOf<SentRequest>("SyncRequest").deserialize(body);
}

/** @throws on bytes that are no message */
export function decodeResponse(body: Buffer): GivenResponse {
  return messageOf<GivenResponse>("SyncResponse").deserialize(body);
}

export function encodeResponse(response: GivenResponse): Buffer {
  return messageOf<GivenResponse>("SyncResponse").serialize(response);
}

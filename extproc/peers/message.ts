import type { SharedOverride, State } from "../sync/contract.js";

// The messages of proto/llm_breaker/v1/peers.proto. Field comments are there.

/** All that one member has to tell. */
export interface PeerMessage {
  readonly member: string;
  readonly name: string;
  readonly sequence: number;
  readonly uptimeMs: number;
  readonly backends: readonly BackendView[];
  readonly overrides: readonly SharedOverride[];
}

export interface BackendView {
  readonly name: string;
  readonly weight: number;
  readonly register?: Register;
  readonly gateways: readonly GatewayView[];
  readonly readiness: Readiness;
  readonly isProbing: boolean;
  readonly ask?: Ask;
  readonly grant?: Grant;
}

/** Whether a member could probe now; LAST: it had the lease and let it go by. */
export type Readiness = "NONE" | "LAST" | "READY";

export interface Register {
  readonly version: number;
  readonly stage: number;
  readonly openings: number;
  readonly waitMs: number;
  readonly cause: MoveCause;
  readonly cap: number;
  readonly isGrowing: boolean;
  readonly shares: readonly Share[];
}

export type MoveCause = "GROUP_OPENED" | "GROUP_PROBED" | "GROUP_CLOSED" | "OPERATOR_RESET";

export interface Share {
  readonly process: string;
  readonly count: number;
  readonly endedBy: number;
}

export interface GatewayView {
  readonly process: string;
  readonly state: State;
  readonly stage: number;
  readonly track: number;
  readonly isEvidence: boolean;
  readonly isSilent: boolean;
  readonly hasTraffic: boolean;
  readonly livePermits: number;
}

export interface Ask {
  readonly id: number;
  readonly leaseMs: number;
}

export interface Grant {
  readonly member: string;
  readonly ask: number;
}

/** More of them are not told, and not taken in. */
export const MAX_BACKENDS = 512;
export const MAX_GATEWAYS = 64;
export const MAX_SHARES = 64;
export const MAX_OVERRIDES = 512;

export const READINESS: readonly Readiness[] = ["NONE", "LAST", "READY"];
export const MOVE_CAUSES: readonly MoveCause[] = [
  "GROUP_OPENED",
  "GROUP_PROBED",
  "GROUP_CLOSED",
  "OPERATOR_RESET",
];

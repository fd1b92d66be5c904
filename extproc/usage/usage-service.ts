import type { ServerReadableStream, sendUnaryData, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { Limiter } from "../limits/limiter.js";
import { type GrpcService, loadAccessLog } from "../protos.js";
import { type AccessLogEntry, readRequestEnd } from "./access-log-entry.js";
import { usedTokens } from "./used-tokens.js";

interface AccessLogMessage {
  http_logs?: { log_entry?: AccessLogEntry[] };
}

type Call = ServerReadableStream<AccessLogMessage, object>;

export interface UsageService {
  readonly definition: GrpcService;
  readonly implementation: UntypedServiceImplementation;
  /** Ends the calls, which Envoy keeps open for good and which would keep the server from closing. */
  drain(): void;
}

/**
 * Envoy's access log service: settles each limited request when it is over, off the path of every request. `limiter`
 * gives the one in force. Entries may be lost; what they would have freed leaves with its window.
 */
export function usageService(limiter: () => Limiter | undefined): UsageService {
  const open = new Map<Call, sendUnaryData<object>>();
  const close = (call: Call) => {
    const answer = open.get(call);
    open.delete(call);
    answer?.(null, {});
  };
  const StreamAccessLogs = (call: Call, callback: sendUnaryData<object>) => {
    open.set(call, callback);
    call.on("data", (message: AccessLogMessage) => settleAll(message, limiter()));
    call.on("end", () => close(call));
    call.on("cancelled", () => open.delete(call));
    call.on("error", () => open.delete(call));
  };
  return {
    definition: loadAccessLog(),
    implementation: { StreamAccessLogs },
    drain: () => {
      for (const call of open.keys()) close(call);
    },
  };
}

function settleAll(message: AccessLogMessage, limiter: Limiter | undefined): void {
  if (limiter === undefined) return;
  for (const entry of message.http_logs?.log_entry ?? []) {
    const end = readRequestEnd(entry);
    if (end !== undefined) limiter.settle(end.reservation, usedTokens(end));
  }
}

import type { GrpcCall } from "../grpc/call.js";
import { frame, HEAD_BYTES } from "../grpc/framing.js";
import type { SideService } from "../grpc-server.js";
import type { Limiter } from "../limits/limiter.js";
import { loadAccessLog } from "../protos.js";
import { type AccessLogEntry, readRequestEnd } from "./access-log-entry.js";
import { usedTokens } from "./used-tokens.js";

interface AccessLogMessage {
  http_logs?: { log_entry?: AccessLogEntry[] };
}

/** StreamAccessLogsResponse has no fields. */
const RESPONSE = frame(Buffer.alloc(HEAD_BYTES));

/**
 * Envoy's access log service: settles each limited request when it is over, off the path of every request. `limiter`
 * gives the one in force. Entries may be lost; what they would have freed leaves with its window.
 */
export function usageService(limiter: () => Limiter | undefined): SideService {
  const definition = loadAccessLog().StreamAccessLogs;
  if (definition === undefined) throw new Error("the access log's proto has no StreamAccessLogs");
  const { path, requestDeserialize } = definition;
  // Envoy keeps these calls open for good.
  const open = new Set<GrpcCall>();
  const streamAccessLogs = (call: GrpcCall) => {
    open.add(call);
    call.handle({
      onMessage: (bytes) => settleAll(requestDeserialize(bytes) as AccessLogMessage, limiter()),
      onHalfClose: () => call.finish(RESPONSE),
      onClose: () => open.delete(call),
    });
  };
  return {
    methods: new Map([[path, streamAccessLogs]]),
    drain: () => {
      for (const call of open) call.finish(RESPONSE);
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

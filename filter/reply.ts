// The answers the breaker writes itself: always JSON, always with a reason, never a bare status.
import { Level, log } from "./host/log";
import { finishPairs, pairsSize, putPair, putText, startPairs } from "./host/pairs-writer";
import { sendReply } from "./host/stream";
import { decimal, decimalLength, Text } from "./host/text";
import { APPLICATION_JSON, CONTENT_TYPE, HEADER_REASON, RETRY_AFTER } from "./names";
import { Chain } from "./policy/policy";

const EXHAUSTED = Text.of("exhausted");
const UNKNOWN_CHAIN = Text.of("unknown_chain");
const EXHAUSTED_DETAILS = Text.of("llm_breaker_exhausted");
const UNKNOWN_CHAIN_DETAILS = Text.of("llm_breaker_unknown_chain");
const UNKNOWN_CHAIN_BODY = Text.of(
  '{"error":{"message":"This route names a chain that the breaker\'s policy does not have.",' +
    '"type":"configuration_error","param":null,"code":"llm_breaker_unknown_chain"}}',
);

/** No tier may answer: the chain's status, with the shortest remaining wait (1 s at least) as Retry-After. */
export function replyExhausted(chain: Chain, waitMs: u64): void {
  startPairs();
  putText(CONTENT_TYPE, APPLICATION_JSON);
  putText(HEADER_REASON, EXHAUSTED);
  const seconds = decimal(max<u64>(1, (waitMs + 999) / 1000));
  if (seconds !== 0) putPair(RETRY_AFTER, seconds, decimalLength());
  reply(chain.exhaustedStatus, EXHAUSTED_DETAILS, chain.exhaustedBody);
}

let hasToldOfChain: bool = false;

export function replyUnknownChain(): void {
  if (!hasToldOfChain) log(Level.ERROR, "llm.breaker: a route names a chain that the policy does not have");
  hasToldOfChain = true;
  startPairs();
  putText(CONTENT_TYPE, APPLICATION_JSON);
  putText(HEADER_REASON, UNKNOWN_CHAIN);
  reply(503, UNKNOWN_CHAIN_DETAILS, UNKNOWN_CHAIN_BODY);
}

function reply(status: u32, details: Text, body: Text): void {
  const headers = finishPairs();
  sendReply(status, details, body.ptr, body.length, headers, pairsSize());
}

import { readProperty, writeFilterState } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Text } from "./host/text";
import { STATE_REQUEST } from "./names";
import { Policy } from "./policy/policy";

export const NO_TIER: u8 = 0xff;
/** The chain goes by the model, which is not known yet. */
export const NO_CHAIN: u8 = 0xff;
/** Attempts whose ends are remembered: the most a chain may allow. */
export const MAX_ATTEMPTS: i32 = 16;
export const UNKNOWN: i32 = -1;

/**
 * What the positions tell each other about one request, as the bytes of filter state `llm.breaker.request`. Its presence
 * is the gate's mark: what comes without it (a mirrored request, say) is nobody's evidence. There the policy's name follows;
 * a stream that lives for minutes has its policy, and keeps no copy of the name.
 */
@unmanaged
export class RequestRecord {
  policyHash: u64;
  /** Monotonic milliseconds at which the gate saw the request. */
  startMs: u64;
  /** How long the gate held the request for its body: with `startMs` the start of the first attempt. */
  heldMs: u32;
  /** The backend's generation when tier `tier` was admitted. */
  generation: u32;
  /** Half-open permit held on tier `permitTier`; 0 = none. */
  permit: u32;
  /** Estimated from content-length, or counted; -1 = not known. */
  promptTokens: i32;
  outputTokens: i32;
  /** The limit that Envoy keeps for each attempt until its response headers. */
  perTryMs: u32;
  /** Seconds of Retry-After that the last failed attempt told; 0 = none. */
  retryAfter: i32;
  chain: u8;
  /** The tier named for the next attempt. */
  tier: u8;
  permitTier: u8;
  /** Bit n: tier n is not asked any more: it failed, or is too small for the prompt. */
  visited: u8;
  /** Bit n: tier n was passed over, by why. Counted once the choice is final; `offered` has the rules. */
  refusedBy: u8;
  limitedBy: u8;
  shedBy: u8;
  /** Bit n: tier n has counted this request as passed on. */
  countedBy: u8;
  failedAttempts: u8;
  sameTierRetries: u8;
  /** 1 = the caller asked for an event stream, 0 = it did not, -1 = not known. */
  stream: i8;
  /** A HEAD request: its answer has no body. */
  isHead: bool;
  /**
   * A POST. Whatever else there is (a preflight, a poll, a health page) asks for no model's work: its answer's body is not
   * judged, and its success is no sign of life.
   */
  isPost: bool;
  /** A chat or completion, whose answers' events are understood. */
  isChat: bool;
  /** The caller takes compressed answers, which could not be read. */
  acceptsCoding: bool;
  nameLength: u8;
}

/** How each failed attempt ended, two bytes each. */
const TRIES_OFFSET: usize = (offsetof<RequestRecord>() + 1) & ~1;
export const REQUEST_SIZE: i32 = <i32>TRIES_OFFSET + MAX_ATTEMPTS * 2;
const MAX_NAME: i32 = 64;

const TIER_SHIFT: i32 = 12;
const CODE_MASK: i32 = (1 << TIER_SHIFT) - 1;

/** Remembers how attempt number `failedAttempts` ended: `code` is a status, or what the caller of this module makes of it. */
export function noteTry(request: RequestRecord, tier: i32, code: i32): void {
  const at = <i32>request.failedAttempts;
  if (at < MAX_ATTEMPTS) store<u16>(tryPtr(request, at), <u16>((tier << TIER_SHIFT) | (code & CODE_MASK)));
}

export function triedTier(request: RequestRecord, attempt: i32): i32 {
  return <i32>load<u16>(tryPtr(request, attempt)) >> TIER_SHIFT;
}

export function triedCode(request: RequestRecord, attempt: i32): i32 {
  return <i32>load<u16>(tryPtr(request, attempt)) & CODE_MASK;
}

function tryPtr(request: RequestRecord, attempt: i32): usize {
  return changetype<usize>(request) + TRIES_OFFSET + <usize>attempt * 2;
}

export function startRequest(request: RequestRecord, policy: Policy, chain: i32, now: u64): void {
  request.policyHash = policy.hash;
  request.startMs = now;
  request.chain = <u8>chain;
  request.permitTier = NO_TIER;
  request.tier = NO_TIER;
  request.stream = -1;
  request.promptTokens = UNKNOWN;
  request.outputTokens = UNKNOWN;
  request.nameLength = <u8>policy.nameText.length;
}

const room: StaticArray<u8> = new StaticArray<u8>(REQUEST_SIZE + MAX_NAME);
let name: usize = 0;

/** Where the policy's name is that came with the last `loadRequest`: `nameLength` bytes, good until this callback's end. */
export function loadedName(): usize {
  return name;
}

/** @param policyName as it was loaded, or of the policy that the request was moved to */
export function saveRequest(request: RequestRecord, policyName: Text): void {
  request.nameLength = <u8>policyName.length;
  const saved = changetype<usize>(room);
  memory.copy(saved, changetype<usize>(request), REQUEST_SIZE);
  memory.copy(saved + <usize>REQUEST_SIZE, policyName.ptr, policyName.length);
  writeFilterState(STATE_REQUEST, saved, REQUEST_SIZE + policyName.length);
}

/** Copies the request's record to `to`; false without the gate's mark. */
export function loadRequest(to: RequestRecord): bool {
  if (!readProperty(STATE_REQUEST)) return false;
  const size = resultSize();
  if (size < REQUEST_SIZE || size > REQUEST_SIZE + MAX_NAME) return false;
  memory.copy(changetype<usize>(to), resultPtr(), REQUEST_SIZE);
  name = resultPtr() + <usize>REQUEST_SIZE;
  return REQUEST_SIZE + to.nameLength === size;
}

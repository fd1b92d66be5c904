// One walk over a request's headers: what a client may not say is removed, what an attempt may change is saved.
import { isForbidden } from "../forbidden";
import { HeaderMap, Pairs, removeHeaderAt } from "../host/headers";
import { finishPairs, pairsSize, putBytes, startPairs } from "../host/pairs-writer";
import { writeFilterState } from "../host/properties";
import { parseDecimal, Text } from "../host/text";
import * as names from "../names";
import { UNKNOWN } from "../request-record";
import { isSecret } from "../secrets";

const MULTIPART = Text.of("multipart/");

const pairs: Pairs = new Pairs();

/** Ends of the paths whose answers are understood: OpenAI, Responses, Messages, Text Generation Inference and Triton. */
const CHATS: Text[] = [
  names.COMPLETIONS,
  Text.of("/responses"),
  Text.of("/messages"),
  Text.of("/generate_stream"),
  Text.of("/generate"),
];

/** Facts of the last {@link readRequestHeaders}. */
export let isPost: bool = false;
export let isHead: bool = false;
export let acceptsCoding: bool = false;
export let isChat: bool = false;
export let isCoded: bool = false;
export let isForm: bool = false;
export let contentLength: i32 = UNKNOWN;

/** Reads, cleans and, when `saves`, keeps the original headers for later attempts. */
export function readRequestHeaders(saves: bool): void {
  isPost = false;
  isHead = false;
  acceptsCoding = false;
  isChat = false;
  isCoded = false;
  isForm = false;
  contentLength = UNKNOWN;
  if (!pairs.readHeaders(HeaderMap.REQUEST)) return;
  if (saves) startPairs();
  while (pairs.next()) {
    const name = pairs.name;
    const length = pairs.nameLength;
    if (isForbidden(name, length)) removeHeaderAt(HeaderMap.REQUEST, name, length);
    else if (note(name, length) && saves) putBytes(name, length, pairs.value, pairs.valueLength);
  }
  if (!saves) return;
  const original = finishPairs();
  if (original !== 0) writeFilterState(names.STATE_ORIGINAL, original, pairsSize());
}

/** Takes a header's fact; true when an attempt may change the header, so that it is to be kept. */
function note(name: usize, length: i32): bool {
  switch (load<u8>(name)) {
    case 0x3a: // ":"
      if (names.METHOD.equals(name, length)) {
        isPost = names.POST.equals(pairs.value, pairs.valueLength);
        isHead = names.HEAD.equals(pairs.value, pairs.valueLength);
        return false;
      }
      if (!names.PATH.equals(name, length)) return names.AUTHORITY.equals(name, length);
      isChat = endsLikeChat(pairs.value, lengthBeforeQuery(pairs.value, pairs.valueLength));
      return true;
    case 0x61: // "a"
      if (names.ACCEPT_ENCODING.equals(name, length)) {
        acceptsCoding = !names.IDENTITY.equals(pairs.value, pairs.valueLength);
        return true;
      }
      return names.AUTHORIZATION.equals(name, length) || names.API_KEY.equals(name, length);
    case 0x63: // "c"
      return noteContent(name, length) || names.COOKIE.equals(name, length);
    case 0x6f: // "o"
    case 0x70: // "p"
    case 0x78: // "x"
      return isSecret(name, length);
    default:
      return false;
  }
}

function endsLikeChat(path: usize, length: i32): bool {
  for (let i = 0; i < CHATS.length; i++) {
    if (unchecked(CHATS[i]).endsBytes(path, length)) return true;
  }
  return false;
}

function lengthBeforeQuery(ptr: usize, length: i32): i32 {
  for (let i = 0; i < length; i++) {
    if (load<u8>(ptr + i) === 0x3f) return i;
  }
  return length;
}

function noteContent(name: usize, length: i32): bool {
  if (names.CONTENT_LENGTH.equals(name, length)) {
    const value = parseDecimal(pairs.value, pairs.valueLength);
    contentLength = value > i32.MAX_VALUE ? i32.MAX_VALUE : <i32>value;
    return true;
  }
  if (names.CONTENT_TYPE.equals(name, length)) {
    isForm = MULTIPART.beginsIgnoringCase(pairs.value, pairs.valueLength);
    return false;
  }
  if (!names.CONTENT_ENCODING.equals(name, length)) return false;
  isCoded = !names.IDENTITY.equals(pairs.value, pairs.valueLength);
  return true;
}

import { KindFlag } from "./json-state";
import { equalsText } from "./text";

/**
 * Places in an answer that mean something. A new dialect adds kinds here and keys to the functions
 * below; nothing else knows where a value stands. Each value is `KindFlag`s and an id. Elements of an array have the array's kind.
 */
export enum Kind {
  ROOT = 0x81,
  CHOICE = 0x82,
  DELTA = 0x83,
  TOOL_CALL = 0x84,
  FUNCTION = 0x85,
  USAGE = 0x86,
  /** `content`: a string, or parts with a `text`. */
  CONTENT = 0x91,
  /** `error`: an object, or a string that is the message. */
  ERROR = 0xb1,
  /** Any non-empty string here is model output. */
  TOKEN = 0x11,
  PROMPT_TOKENS = 0x12,
  COMPLETION_TOKENS = 0x13,
  FINISH_REASON = 0x51,
  OBJECT_TYPE = 0x52,
  ERROR_CODE = 0x53,
  FLAT_CODE = 0x54,
  ERROR_MESSAGE = 0x31,
  /** A top-level message; an error only when the object or the event says so. */
  FLAT_MESSAGE = 0x32,
}

/** The kind of the value that `key` holds inside a container of kind `parent`; 0 when nobody wants it. */
export function childKind(parent: i32, key: usize, length: i32): i32 {
  switch (parent) {
    case Kind.CHOICE:
      return choiceKind(key, length);
    case Kind.DELTA:
      return deltaKind(key, length);
    case Kind.ROOT:
      return rootKind(key, length);
    case Kind.CONTENT:
      return equalsText(key, length, "text") ? Kind.TOKEN : 0;
    case Kind.TOOL_CALL:
      return equalsText(key, length, "function") || equalsText(key, length, "custom") ? Kind.FUNCTION : 0;
    case Kind.FUNCTION:
      return functionKind(key, length);
    case Kind.USAGE:
      if (equalsText(key, length, "prompt_tokens")) return Kind.PROMPT_TOKENS;
      return equalsText(key, length, "completion_tokens") ? Kind.COMPLETION_TOKENS : 0;
    case Kind.ERROR:
      if (equalsText(key, length, "message")) return Kind.ERROR_MESSAGE;
      return equalsText(key, length, "code") ? Kind.ERROR_CODE : 0;
    default:
      return 0;
  }
}

function rootKind(key: usize, length: i32): i32 {
  switch (length) {
    case 4:
      return equalsText(key, length, "code") ? Kind.FLAT_CODE : 0;
    case 5:
      if (equalsText(key, length, "usage")) return Kind.USAGE;
      return equalsText(key, length, "error") ? Kind.ERROR : 0;
    case 6:
      if (equalsText(key, length, "object")) return Kind.OBJECT_TYPE;
      return equalsText(key, length, "detail") ? Kind.FLAT_MESSAGE : 0;
    case 7:
      if (equalsText(key, length, "choices")) return Kind.CHOICE;
      return equalsText(key, length, "message") ? Kind.FLAT_MESSAGE : 0;
    default:
      return 0;
  }
}

function choiceKind(key: usize, length: i32): i32 {
  switch (length) {
    case 4:
      return equalsText(key, length, "text") ? Kind.TOKEN : 0;
    case 5:
      return equalsText(key, length, "delta") ? Kind.DELTA : 0;
    case 7:
      return equalsText(key, length, "message") ? Kind.DELTA : 0;
    case 13:
      return equalsText(key, length, "finish_reason") ? Kind.FINISH_REASON : 0;
    default:
      return 0;
  }
}

function deltaKind(key: usize, length: i32): i32 {
  switch (length) {
    case 7:
      if (equalsText(key, length, "content")) return Kind.CONTENT;
      return equalsText(key, length, "refusal") ? Kind.TOKEN : 0;
    case 9:
      return equalsText(key, length, "reasoning") ? Kind.TOKEN : 0;
    case 10:
      return equalsText(key, length, "tool_calls") ? Kind.TOOL_CALL : 0;
    case 13:
      return equalsText(key, length, "function_call") ? Kind.FUNCTION : 0;
    case 17:
      return equalsText(key, length, "reasoning_content") ? Kind.TOKEN : 0;
    default:
      return 0;
  }
}

function functionKind(key: usize, length: i32): i32 {
  const isToken =
    equalsText(key, length, "name") ||
    equalsText(key, length, "arguments") ||
    equalsText(key, length, "input");
  return isToken ? Kind.TOKEN : 0;
}

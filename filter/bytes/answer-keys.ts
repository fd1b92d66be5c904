import { KindFlag } from "./json-state";
import { equalsText } from "./text";

/**
 * Places in an answer that mean something. A new dialect adds kinds here and keys to the functions
 * below; nothing else knows where a value stands. Elements of an array have the array's kind.
 */
export enum Kind {
  ROOT = KindFlag.ENTER | 1,
  CHOICE = KindFlag.ENTER | 2,
  DELTA = KindFlag.ENTER | 3,
  TOOL_CALL = KindFlag.ENTER | 4,
  FUNCTION = KindFlag.ENTER | 5,
  USAGE = KindFlag.ENTER | 6,
  /** `content`: a string, or parts with a `text`. */
  CONTENT = KindFlag.ENTER | KindFlag.VALUE | 1,
  /** `error`: an object, or a string that is the message. */
  ERROR = KindFlag.ENTER | KindFlag.TEXT | KindFlag.VALUE | 1,
  /** Any non-empty string here is model output. */
  TOKEN = KindFlag.VALUE | 1,
  PROMPT_TOKENS = KindFlag.VALUE | 2,
  COMPLETION_TOKENS = KindFlag.VALUE | 3,
  FINISH_REASON = KindFlag.SHORT | KindFlag.VALUE | 1,
  OBJECT_TYPE = KindFlag.SHORT | KindFlag.VALUE | 2,
  ERROR_CODE = KindFlag.SHORT | KindFlag.VALUE | 3,
  FLAT_CODE = KindFlag.SHORT | KindFlag.VALUE | 4,
  ERROR_MESSAGE = KindFlag.TEXT | KindFlag.VALUE | 1,
  /** A top-level message; an error only when the object or the event says so. */
  FLAT_MESSAGE = KindFlag.TEXT | KindFlag.VALUE | 2,
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

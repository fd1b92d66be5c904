import { KindFlag } from "./json-state";
import { equalsText, wordAt, wordOf } from "./text";

/**
 * Places in an answer that mean something. A new dialect adds kinds here and keys to the functions
 * below; nothing else knows where a value stands. Each value is `KindFlag`s and an id. Elements of an array have the array's kind.
 */
export enum Kind {
  ROOT = 0x81,
  DELTA = 0x82,
  TOOL_CALL = 0x83,
  FUNCTION = 0x84,
  /** Anthropic's top-level `content`. */
  BLOCKS = 0x85,
  /** `output` of OpenAI Responses. */
  OUTPUT = 0x86,
  /** TGI: one token of a stream, and what it tells at the end. */
  ENGINE_TOKEN = 0x87,
  DETAILS = 0x88,
  /** `x_groq` */
  EXTENSION = 0x89,
  /** What an error holds below its own code: `innererror`, `details`. */
  ERROR_DETAIL = 0x8a,
  /** `content`: a string, or parts. */
  CONTENT = 0x91,
  /** A top-level `delta`: Responses' is a string, Anthropic's an object. */
  ROOT_DELTA = 0x92,
  CHOICE = 0x93,
  USAGE = 0x94,
  /** Ollama's is a string, that of Responses' last event an object. */
  RESPONSE = 0x95,
  /** `error`: an object, or a string that is the message. */
  ERROR = 0xb1,
  /** A top-level `message`: Ollama's and Anthropic's is an object, a flat error's a string (or Mistral's object). */
  MESSAGE = 0xb2,
  /** Any non-empty string here is model output. */
  TOKEN = 0x11,
  PROMPT_TOKENS = 0x12,
  COMPLETION_TOKENS = 0x13,
  /** A part of the prompt's tokens: the parts of one usage are added up. */
  INPUT_TOKENS = 0x14,
  CHOICE_INDEX = 0x15,
  /** Ollama: `done` */
  DONE = 0x16,
  /** TGI: the whole text, in the last event. */
  GENERATED_TEXT = 0x17,
  /** Triton: text of an event; its streams have no end mark. */
  TEXT_OUTPUT = 0x18,
  ENGINE_TEXT = 0x19,
  /** TGI: the token is no text, but a mark such as the end of the sequence. */
  SPECIAL = 0x1a,
  FINISH_REASON = 0x51,
  OBJECT_TYPE = 0x52,
  ERROR_CODE = 0x53,
  FLAT_CODE = 0x54,
  /** A top-level `type`: that of the event, the answer, or the flat error. */
  TYPE = 0x55,
  STATUS = 0x56,
  ERROR_WORD = 0x57,
  ERROR_MESSAGE = 0x31,
  /** A top-level text; an error only when the object or the status says so. */
  FLAT_MESSAGE = 0x32,
}

// Keys of every chunk are told by one comparison of numbers each.
const CODE = wordOf("code");
const CHOICES = wordOf("choices");
const CONTENT = wordOf("content");
const DELTA = wordOf("delta");
const DETAIL = wordOf("detail");
const DETAILS = wordOf("details");
const DONE = wordOf("done");
const ERROR = wordOf("error");
const INDEX = wordOf("index");
const MESSAGE = wordOf("message");
const OBJECT = wordOf("object");
const OUTPUT = wordOf("output");
const REFUSAL = wordOf("refusal");
const RESPONSE = wordOf("response");
const STATUS = wordOf("status");
const TEXT = wordOf("text");
const TOKEN = wordOf("token");
const TYPE = wordOf("type");
const USAGE = wordOf("usage");
const X_GROQ = wordOf("x_groq");

/** The kind of the value that `key` holds inside a container of kind `parent`; 0 when nobody wants it. */
export function childKind(parent: i32, key: usize, length: i32): i32 {
  switch (parent) {
    case Kind.CHOICE:
      return choiceKind(key, length);
    case Kind.DELTA:
      return deltaKind(key, length);
    case Kind.ROOT:
      return rootKind(key, length);
    case Kind.USAGE:
      return usageKind(key, length);
    case Kind.ROOT_DELTA:
      return equalsText(key, length, "stop_reason") ? Kind.FINISH_REASON : partKind(key, length);
    case Kind.CONTENT:
      return partKind(key, length);
    case Kind.BLOCKS:
      return equalsText(key, length, "name") ? Kind.TOKEN : partKind(key, length);
    case Kind.OUTPUT:
      return outputKind(key, length);
    case Kind.MESSAGE:
      return messageKind(key, length);
    case Kind.TOOL_CALL:
      return equalsText(key, length, "function") || equalsText(key, length, "custom") ? Kind.FUNCTION : 0;
    case Kind.FUNCTION:
      return functionKind(key, length);
    case Kind.RESPONSE:
    case Kind.EXTENSION:
      if (equalsText(key, length, "usage")) return Kind.USAGE;
      return equalsText(key, length, "error") ? Kind.ERROR : 0;
    case Kind.ENGINE_TOKEN:
      if (equalsText(key, length, "text")) return Kind.ENGINE_TEXT;
      return equalsText(key, length, "special") ? Kind.SPECIAL : 0;
    case Kind.DETAILS:
      if (equalsText(key, length, "finish_reason")) return Kind.FINISH_REASON;
      if (equalsText(key, length, "input_length")) return Kind.PROMPT_TOKENS;
      return equalsText(key, length, "generated_tokens") ? Kind.COMPLETION_TOKENS : 0;
    case Kind.ERROR:
      return errorKind(key, length);
    case Kind.ERROR_DETAIL:
      return equalsText(key, length, "code") || equalsText(key, length, "error_code") ? Kind.ERROR_WORD : 0;
    default:
      return 0;
  }
}

function rootKind(key: usize, length: i32): i32 {
  const word = wordAt(key, length);
  switch (length) {
    case 4:
      if (word === TYPE) return Kind.TYPE;
      if (word === CODE) return Kind.FLAT_CODE;
      return word === DONE ? Kind.DONE : 0;
    case 5:
      if (word === USAGE) return Kind.USAGE;
      if (word === DELTA) return Kind.ROOT_DELTA;
      if (word === TOKEN) return Kind.ENGINE_TOKEN;
      return word === ERROR ? Kind.ERROR : 0;
    case 6:
      if (word === OBJECT) return Kind.OBJECT_TYPE;
      if (word === STATUS) return Kind.STATUS;
      if (word === OUTPUT) return Kind.OUTPUT;
      if (word === X_GROQ) return Kind.EXTENSION;
      return word === DETAIL ? Kind.FLAT_MESSAGE : 0;
    case 7:
      if (word === CHOICES) return Kind.CHOICE;
      if (word === MESSAGE) return Kind.MESSAGE;
      if (word === CONTENT) return Kind.BLOCKS;
      return word === DETAILS ? Kind.DETAILS : 0;
    case 8:
      return word === RESPONSE ? Kind.RESPONSE : 0;
    default:
      return length > 8 ? longRootKind(key, length) : 0;
  }
}

function longRootKind(key: usize, length: i32): i32 {
  switch (length) {
    case 10:
      return equalsText(key, length, "eval_count") ? Kind.COMPLETION_TOKENS : 0;
    case 11:
      if (equalsText(key, length, "text_output")) return Kind.TEXT_OUTPUT;
      return equalsText(key, length, "stop_reason") || equalsText(key, length, "done_reason")
        ? Kind.FINISH_REASON
        : 0;
    case 14:
      return equalsText(key, length, "generated_text") ? Kind.GENERATED_TEXT : 0;
    case 17:
      return equalsText(key, length, "prompt_eval_count") ? Kind.PROMPT_TOKENS : 0;
    default:
      return 0;
  }
}

function choiceKind(key: usize, length: i32): i32 {
  const word = wordAt(key, length);
  switch (length) {
    case 4:
      return word === TEXT ? Kind.TOKEN : 0;
    case 5:
      if (word === DELTA) return Kind.DELTA;
      return word === INDEX ? Kind.CHOICE_INDEX : 0;
    case 7:
      return word === MESSAGE ? Kind.DELTA : 0;
    case 13:
      return equalsText(key, length, "finish_reason") ? Kind.FINISH_REASON : 0;
    default:
      return 0;
  }
}

function deltaKind(key: usize, length: i32): i32 {
  const word = wordAt(key, length);
  switch (length) {
    case 7:
      if (word === CONTENT) return Kind.CONTENT;
      return word === REFUSAL ? Kind.TOKEN : 0;
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

/** Ollama's message, or that of Anthropic's `message_start`. */
function messageKind(key: usize, length: i32): i32 {
  if (equalsText(key, length, "usage")) return Kind.USAGE;
  if (equalsText(key, length, "content")) return Kind.CONTENT;
  if (equalsText(key, length, "thinking")) return Kind.TOKEN;
  return equalsText(key, length, "tool_calls") ? Kind.TOOL_CALL : 0;
}

/** A part of a content. A signature is no output. Mistral's `thinking` has parts of its own. */
function partKind(key: usize, length: i32): i32 {
  if (equalsText(key, length, "thinking")) return Kind.CONTENT;
  const isToken =
    equalsText(key, length, "text") ||
    equalsText(key, length, "refusal") ||
    equalsText(key, length, "partial_json");
  return isToken ? Kind.TOKEN : 0;
}

function outputKind(key: usize, length: i32): i32 {
  if (equalsText(key, length, "content") || equalsText(key, length, "summary")) return Kind.CONTENT;
  return functionKind(key, length);
}

function functionKind(key: usize, length: i32): i32 {
  const isToken =
    equalsText(key, length, "name") ||
    equalsText(key, length, "arguments") ||
    equalsText(key, length, "input");
  return isToken ? Kind.TOKEN : 0;
}

function usageKind(key: usize, length: i32): i32 {
  switch (length) {
    case 12:
      return equalsText(key, length, "input_tokens") ? Kind.INPUT_TOKENS : 0;
    case 13:
      if (equalsText(key, length, "prompt_tokens")) return Kind.PROMPT_TOKENS;
      return equalsText(key, length, "output_tokens") ? Kind.COMPLETION_TOKENS : 0;
    case 17:
      return equalsText(key, length, "completion_tokens") ? Kind.COMPLETION_TOKENS : 0;
    case 23:
      return equalsText(key, length, "cache_read_input_tokens") ? Kind.INPUT_TOKENS : 0;
    case 27:
      return equalsText(key, length, "cache_creation_input_tokens") ? Kind.INPUT_TOKENS : 0;
    default:
      return 0;
  }
}

function errorKind(key: usize, length: i32): i32 {
  if (equalsText(key, length, "message")) return Kind.ERROR_MESSAGE;
  if (equalsText(key, length, "code")) return Kind.ERROR_CODE;
  if (equalsText(key, length, "type")) return Kind.ERROR_WORD;
  return equalsText(key, length, "innererror") || equalsText(key, length, "details") ? Kind.ERROR_DETAIL : 0;
}

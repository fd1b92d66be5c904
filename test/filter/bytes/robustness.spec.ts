import {
  AnswerReader,
  ERROR_ROOM,
  endAnswer,
  errorText,
  feedAnswer,
  isWhole,
  resetAnswer,
} from "../../../filter/bytes/answer";
import { classifyEngineError } from "../../../filter/bytes/engine-error";
import { ErrorKind, kindOfText } from "../../../filter/bytes/error-kind";
import {
  feedPeek,
  isAmbiguous,
  MODEL_ROOM,
  peekModel,
  RequestPeek,
  resetPeek,
} from "../../../filter/bytes/request-peek";
import { guarded, isIntact } from "../../fuzz/filter/guard-words";
import { atMemoryEnd, changeReader, Noise } from "./support";

const ROUNDS: i32 = 200_000;
const ROOM: i32 = 1024;

const ANSWERS: string[] = [
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\ndata: [DONE]\n\n',
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\\"a\\":1}"}}]},"finish_reason":"abort"}]}\r\n\r\n',
  'event: error\ndata: {"object":"error","message":"CUDA error: \\u00e9\\ud83d\\ude00","code":"500"}\n\n: ping\n\n',
  '\ufeffdata:{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3.5e1}}\r\rdata\rdata:\r\r',
  '{"error":{"message":"Internal server error: EngineDeadError: gone","type":"x","param":null,"code":500}}',
  '{"choices":[{"message":{"content":[{"type":"text","text":"Hi"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}',
  'event: response.failed\ndata: {"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"m"},"usage":{"input_tokens":5,"output_tokens":1}}}\n\ndata: {"delta":"a","type":"response.output_text.delta"}\n\n',
  'event: message_start\ndata: {"type":"message_start","message":{"content":[],"usage":{"input_tokens":25,"cache_read_input_tokens":7}}}\n\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}\n\ndata: {"type":"message_stop"}\n\n',
  'data:{"token":{"text":"a","special":false},"generated_text":"a","details":{"finish_reason":"length","input_length":9}}\n\ndata:{"error":"`inputs` must have less than 9","error_type":"validation"}\n\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":31,"delta":{"content":"b"},"finish_reason":null}],"x_groq":{"usage":{"prompt_tokens":1}}}\n',
  '{"message":{"role":"assistant","content":"Hi","tool_calls":[{"function":{"name":"f"}}]},"response":"Hi","done":true,"done_reason":"stop","eval_count":8}',
  '{"object":"response","status":"failed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"error":{"innererror":{"code":"content_filter"}}}',
  '[{"error":{"code":429,"message":"The model `x` does not exist.","details":[{"code":"x"}],"status":"NOT_FOUND"}}]',
  "-12.50e+3",
];
const REQUESTS: string[] = [
  '{"model":"qwen3-32b","messages":[{"role":"user","content":"a\\n\\"b\\"[{"}],"stream":true,"max_tokens":64,"n":2}',
  '{"m\\u006fdel":"\\ud83d\\ude00é","stream":false,"max_completion_tokens":99999999999999999999,"tools":[[[]]]}',
  '{"model":"a","Model":"aa","n":1,"model":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","mod\\u0065l":null}',
];
/** Bytes that mean something to one of the parsers. */
const SPICE = '"\\{}[]:,\n\r \tu0eE-+.tfn/dD\u00ff';

const answers = encode(ANSWERS);
const requests = encode(REQUESTS);
const spice = String.UTF8.encode(SPICE);

const answer = changetype<AnswerReader>(guarded(offsetof<AnswerReader>()));
const peek = changetype<RequestPeek>(guarded(offsetof<RequestPeek>()));
const input = heap.alloc(ROOM);
let parked: i32 = 0;

function encode(texts: string[]): ArrayBuffer[] {
  const seeds: ArrayBuffer[] = [];
  for (let i = 0; i < texts.length; i++) seeds.push(String.UTF8.encode(texts[i]));
  return seeds;
}

/** Writes a damaged seed (or pure noise) into `input`; its length. */
function damage(noise: Noise, seeds: ArrayBuffer[]): i32 {
  const seed = seeds[noise.next(seeds.length)];
  let length = seed.byteLength;
  memory.copy(input, changetype<usize>(seed), length);
  if (noise.next(50) === 0) {
    length = noise.next(200);
    for (let i = 0; i < length; i++) store<u8>(input + i, <u8>noise.next(256));
  }
  const edits = 1 + noise.next(4);
  for (let i = 0; i < edits && length > 0; i++) {
    const at = noise.next(length);
    const size = min(1 + noise.next(12), length - at);
    switch (noise.next(5)) {
      case 0:
        store<u8>(input + at, <u8>noise.next(256));
        break;
      case 1:
        store<u8>(input + at, load<u8>(changetype<usize>(spice) + noise.next(spice.byteLength)));
        break;
      case 2:
        memory.copy(input + at, input + at + size, length - at - size);
        length -= size;
        break;
      case 3:
        memory.copy(input + at + size, input + at, length - at);
        length += size;
        break;
      default:
        length = at;
    }
  }
  return length;
}

function hash(ptr: usize, length: i32, seed: u64): u64 {
  let value = seed ^ 0xcbf2_9ce4;
  for (let i = 0; i < length; i++) value = (value ^ load<u8>(ptr + i)) * 0x0100_0193;
  return value;
}

function answerHash(): u64 {
  let value: u64 = <u64>answer.firstToken | ((<u64>answer.errorSeen) << 1) | ((<u64>answer.doneSeen) << 2);
  value |= ((<u64>answer.complete) << 3) | ((<u64>answer.finish) << 4) | ((<u64>answer.events) << 8);
  value = value * 31 + (<u64>answer.errorKind | ((<u64>isWhole(answer)) << 8));
  value = value * 31 + <u64>answer.promptTokens;
  value = value * 31 + <u64>answer.completionTokens;
  value = value * 31 + <u64>answer.errorCode;
  return hash(errorText(answer), answer.errorTextLength, value * 31 + <u64>answer.errorTextLength);
}

function peekHash(): u64 {
  let value: u64 = <u64>peek.complete | ((<u64>peek.malformed) << 1) | ((<u64>peek.modelTruncated) << 2);
  value = value * 31 + (<u64>isAmbiguous(peek) | ((<u64>peek.hasModelKey) << 1));
  value = value * 31 + <u64>peek.stream;
  value = value * 31 + <u64>peek.maxTokens;
  value = value * 31 + <u64>peek.n;
  return hash(peekModel(peek), peek.modelLength, value * 31 + <u64>peek.modelLength);
}

/** Feeds `input` in two parts that are cut at `cut`, each where a read past its end would trap. */
function readAnswer(length: i32, cut: i32, eventStream: bool): u64 {
  resetAnswer(answer, eventStream);
  let chunk = atMemoryEnd(cut);
  memory.copy(chunk, input, cut);
  feedAnswer(answer, chunk, cut);
  if (changeReader(answer)) parked++;
  chunk = atMemoryEnd(length - cut);
  memory.copy(chunk, input + cut, length - cut);
  feedAnswer(answer, chunk, length - cut);
  endAnswer(answer);
  return answerHash();
}

function readPeek(length: i32, cut: i32): u64 {
  resetPeek(peek);
  let chunk = atMemoryEnd(cut);
  memory.copy(chunk, input, cut);
  feedPeek(peek, chunk, cut);
  chunk = atMemoryEnd(length - cut);
  memory.copy(chunk, input + cut, length - cut);
  feedPeek(peek, chunk, length - cut);
  return peekHash();
}

describe("damaged input", () => {
  it("never traps, never writes beside the state, and tells the same however it is cut", () => {
    const noise = new Noise(20_261_130);
    let differences: i32 = 0;
    let outOfRange: i32 = 0;
    let changed: i32 = 0;
    let wholes: i32 = 0;
    let last: u64 = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const kind = noise.next(4);
      const length = damage(noise, kind === 0 ? requests : answers);
      const cut = noise.next(length + 1);
      if (kind === 0) {
        const whole = readPeek(length, length);
        if (whole !== readPeek(length, cut)) differences++;
        if (peek.modelLength > MODEL_ROOM || peek.maxTokens < -1 || peek.n < -1) outOfRange++;
        if (whole !== last) changed++;
        last = whole;
      } else {
        const whole = readAnswer(length, length, kind !== 1);
        if (whole !== readAnswer(length, cut, kind !== 1)) differences++;
        if (answer.errorTextLength > ERROR_ROOM || answer.promptTokens < -1 || answer.errorCode < -1)
          outOfRange++;
        if (<i32>answer.errorKind > ErrorKind.QUOTA || answer.completionTokens < -1) outOfRange++;
        if (isWhole(answer)) wholes++;
        classifyEngineError(errorText(answer), answer.errorTextLength);
      }
    }
    expect(differences).toBe(0);
    expect(outOfRange).toBe(0);
    // The noise is worth something only while it moves the facts.
    expect(changed).toBeGreaterThan(ROUNDS / 10);
    expect(wholes).toBeGreaterThan(ROUNDS / 50);
    expect(parked).toBeGreaterThan(ROUNDS / 50);
    expect(isIntact(changetype<usize>(answer), offsetof<AnswerReader>())).toBe(true);
    expect(isIntact(changetype<usize>(peek), offsetof<RequestPeek>())).toBe(true);
  });

  it("classifies noise without reading past its end", () => {
    const noise = new Noise(5);
    for (let round = 0; round < 20_000; round++) {
      const length = damage(noise, answers);
      const chunk = atMemoryEnd(length);
      memory.copy(chunk, input, length);
      const found = classifyEngineError(chunk, length);
      if (found < 0 || found > 4) throw new Error("no such class");
      const kind = kindOfText(chunk, length);
      if (kind < 0 || kind > 4) throw new Error("no such kind");
    }
    expect(classifyEngineError(input, 0)).toBe(0);
    expect(classifyEngineError(input, -5)).toBe(0);
  });

  it("takes empty and negative lengths for nothing", () => {
    resetPeek(peek);
    feedPeek(peek, 0, 0);
    feedPeek(peek, input, -1);
    expect(peek.malformed).toBe(false);
    resetAnswer(answer, true);
    feedAnswer(answer, 0, 0);
    feedAnswer(answer, input, -1);
    endAnswer(answer);
    expect(answer.events).toBe(0);
  });

  it("can be moved between feeds, as it holds no pointer", () => {
    const body = String.UTF8.encode('{"error":{"message":"CUDA error: unknown error"}}');
    const other = changetype<AnswerReader>(guarded(offsetof<AnswerReader>()));
    resetAnswer(answer, false);
    feedAnswer(answer, changetype<usize>(body), 24);
    memory.copy(changetype<usize>(other), changetype<usize>(answer), offsetof<AnswerReader>());
    memory.fill(changetype<usize>(answer), 0xee, offsetof<AnswerReader>());
    feedAnswer(other, changetype<usize>(body) + 24, body.byteLength - 24);
    expect(String.UTF8.decodeUnsafe(errorText(other), other.errorTextLength)).toBe(
      "CUDA error: unknown error",
    );
  });
});

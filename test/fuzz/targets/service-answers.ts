// Answers of backends, as the service reads, translates and keeps them.
import assert from "node:assert/strict";
import { EventSplitter, EventTooLarge } from "../../../extproc/body/event-stream.js";
import { toCompletion } from "../../../extproc/dialects/anthropic/answer.js";
import { toErrorBody } from "../../../extproc/dialects/anthropic/errors.js";
import { toMessages } from "../../../extproc/dialects/anthropic/request.js";
import { StreamTranslator } from "../../../extproc/dialects/anthropic/stream.js";
import { Untranslatable } from "../../../extproc/dialects/untranslatable.js";
import { WholeBody } from "../../../extproc/dialects/whole-body.js";
import { readAnswer } from "../../../extproc/remember/read-answer.js";
import { ModelEditor } from "../../../extproc/rewrite/model-editor.js";
import { ANSWER_WORDS, ANSWERS, STREAMS } from "../corpus/answers.js";
import { CHATS, REQUEST_WORDS } from "../corpus/requests.js";
import { cutAnywhere } from "../support/pieces.js";
import { sessionOf, toBuffers, unlessDeclared } from "../support/plain-session.js";
import type { Random } from "../support/random.js";
import { sizeClass, strictJson } from "../support/told.js";
import type { Target } from "../target.js";

const EVENT_BYTES = 512;

export const serviceEvents: Target = {
  name: "service-events",
  parsers: ["extproc/body/event-stream.ts"],
  seeds: toBuffers(STREAMS),
  words: ["data", "data:", "data: ", "event: ", ":", "\r\n", "\n\n", "\r\r", "id: 1\n"],
  open: sessionOf((bytes, random) => {
    const whole = eventsOf([bytes]);
    const pieces = eventsOf(cutAnywhere(bytes, random));
    assert.equal(JSON.stringify(pieces), JSON.stringify(whole), "cut otherwise it tells something else");
    for (const { data, name } of whole.events)
      assert.ok(
        Buffer.byteLength(data) + Buffer.byteLength(name) <= EVENT_BYTES * 3,
        "an event without a bound",
      );
    const [first] = whole.events;
    return first === undefined
      ? ""
      : `${whole.events.length},${whole.isTooLarge},${first.name.slice(0, 8)},${sizeClass(first.data.length)}`;
  }),
};

function eventsOf(pieces: readonly Buffer[]) {
  const splitter = new EventSplitter(EVENT_BYTES);
  const events: { name: string; data: string }[] = [];
  const isTooLarge =
    unlessDeclared(() => {
      for (const piece of pieces) for (const event of splitter.push(piece)) events.push(event);
      const last = splitter.end();
      if (last !== undefined) events.push(last);
      return false;
    }, EventTooLarge) ?? true;
  return { events, isTooLarge };
}

const FORM = { model: "caller's", createdAt: 1, includesUsage: true };

export const serviceMessage: Target = {
  name: "service-message",
  parsers: ["answer", "errors", "finish", "usage"]
    .map((name) => `extproc/dialects/anthropic/${name}.ts`)
    .concat("extproc/dialects/whole-body.ts", "extproc/dialects/raw-json.ts"),
  seeds: toBuffers(ANSWERS),
  words: ANSWER_WORDS,
  open: sessionOf((bytes, random) => {
    const told = [
      (body: Buffer | undefined) => toCompletion(body, FORM),
      (body: Buffer | undefined) => toErrorBody(400, body),
    ].map((convert) => {
      const editor = new WholeBody(random.oneIn(8) ? 256 : 4096, convert);
      const pieces = cutAnywhere(bytes, random);
      const out = pieces.map((piece, at) => editor.push(piece, at === pieces.length - 1)).at(-1);
      const answer = strictJson(out ?? Buffer.alloc(0)) ?? assert.fail("the caller gets no JSON");
      assert.ok((out?.length ?? 0) <= bytes.length * 6 + 1000, "it grows without a bound");
      return shapeOf(answer.value);
    });
    return told.join() === "error:server_error,error:server_error" ? "" : told.join();
  }),
};

function shapeOf(value: unknown): string {
  const { error, choices } = value as { error?: { type: string }; choices?: [{ message: object }] };
  return error === undefined ? Object.keys(choices?.[0].message ?? {}).join("+") : `error:${error.type}`;
}

export const serviceStream: Target = {
  name: "service-stream",
  parsers: ["extproc/dialects/anthropic/stream.ts", "extproc/dialects/anthropic/chunks.ts"],
  seeds: toBuffers(STREAMS),
  words: ANSWER_WORDS,
  open: sessionOf((bytes, random) => {
    const whole = translate([bytes]);
    assert.equal(translate(cutAnywhere(bytes, random)), whole, "cut otherwise it tells something else");
    assert.ok(whole.length <= bytes.length * 8 + 1000, "it grows without a bound");
    const events = whole.split("\n\n").filter((event) => event.startsWith("data: "));
    for (const event of events) if (event !== "data: [DONE]") JSON.parse(event.slice(6));
    const end = whole.endsWith("data: [DONE]\n\n");
    assert.ok(!whole.slice(0, -14).includes("data: [DONE]\n"), "something behind the end");
    return whole === "" ? "" : `${sizeClass(events.length)},${end},${whole.includes('"error"')}`;
  }),
};

function translate(pieces: readonly Buffer[]): string {
  const translator = new StreamTranslator(FORM);
  return pieces
    .map((piece, at) => translator.push(piece, at === pieces.length - 1).toString("utf8"))
    .join("");
}

export const serviceTranslate: Target = {
  name: "service-translate",
  parsers: ["request", "blocks", "thinking", "tool-uses", "tools", "turns"].map(
    (name) => `extproc/dialects/anthropic/${name}.ts`,
  ),
  seeds: toBuffers(CHATS),
  words: REQUEST_WORDS,
  open: sessionOf((bytes) => {
    const translated = unlessDeclared(() => toMessages(bytes), Untranslatable);
    if (translated === undefined) return "";
    const body = strictJson(Buffer.from(translated.body)) ?? assert.fail("it is no JSON");
    assert.ok(translated.body.length <= bytes.length * 8 + 1000, "it grows without a bound");
    const { messages, ...rest } = body.value as { messages: { role: string }[] };
    for (const [at, { role }] of messages.entries())
      assert.ok(role !== messages[at - 1]?.role, "two turns of one role in a row");
    return `${Object.keys(rest).join()},${messages.length}`;
  }),
};

const DIALECTS = ["chat", "completion", "responses", "messages"] as const;

export const serviceRemember: Target = {
  name: "service-remember",
  parsers: ["events", "read-answer", "read-chat", "read-messages", "read-responses"].map(
    (name) => `extproc/remember/${name}.ts`,
  ),
  seeds: toBuffers([...STREAMS, ...ANSWERS]),
  words: ANSWER_WORDS,
  open: sessionOf((bytes, random) => {
    const dialect = random.pick(DIALECTS);
    const isStream = random.oneIn(2);
    const answer = readAnswer(dialect, isStream, bytes);
    if (answer === undefined) return "";
    assert.ok(JSON.stringify(answer).length <= bytes.length * 8 + 1000, "it grows without a bound");
    return `${dialect},${isStream},${Object.keys(answer).join()}`;
  }),
};

const CALLERS_MODEL = "mine";

export const serviceModelEditor: Target = {
  name: "service-model-editor",
  parsers: ["model-editor", "model-scanner", "payload-lines"].map((name) => `extproc/rewrite/${name}.ts`),
  seeds: toBuffers([...STREAMS, ...ANSWERS]),
  words: [...ANSWER_WORDS, '"model":"', '"response":{"model":"a"}'],
  open: sessionOf((bytes, random) => {
    const isStream = random.oneIn(2);
    const whole = editModel([bytes], isStream);
    assert.equal(
      editModel(cutAnywhere(bytes, random), isStream),
      whole,
      "cut otherwise it tells something else",
    );
    if (!bytes.includes('"model"') && !bytes.includes('"response"'))
      assert.equal(whole, bytes.toString("latin1"));
    if (!isStream) judgeModel(bytes, whole, random);
    return whole === bytes.toString("latin1") ? "" : `${isStream},${whole.split(CALLERS_MODEL).length}`;
  }),
};

function editModel(pieces: readonly Buffer[], isStream: boolean): string {
  const editor = new ModelEditor(CALLERS_MODEL, isStream);
  return pieces.map((piece) => editor.push(piece).toString("latin1")).join("");
}

function judgeModel(bytes: Buffer, edited: string, _random: Random): void {
  const json = strictJson(bytes);
  if (json === undefined) return;
  const { value } = strictJson(Buffer.from(edited, "latin1")) ?? assert.fail("good JSON became bad");
  const [before, after] = [json.value, value].map((each) => (each ?? {}) as Record<string, unknown>);
  if (json.text.includes("\\u")) return;
  if (typeof before?.model === "string" && !Array.isArray(json.value))
    assert.equal(after?.model, CALLERS_MODEL);
}

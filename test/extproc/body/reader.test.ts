import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readBody } from "../../../extproc/body/reader.js";

const CHAT = "/v1/chat/completions";
const TEXT_LIMIT = 262_144;

const read = (text: string | Buffer, path = CHAT, limit = TEXT_LIMIT) =>
  readBody(path, Buffer.from(text), limit, false);

const EMPTY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "" }], max_tokens: 7 });

function chatOf(bytes: number, fill = "x"): string {
  return EMPTY.replace('"content":""', `"content":"${fill.repeat(bytes - EMPTY.length)}"`);
}

test("gives the same facts on both sides of the size from which another thread reads", async () => {
  for (const bytes of [65_535, 65_536, 65_537, 200_000]) {
    const facts = await read(chatOf(bytes));
    assert.ok(facts?.prompt?.kind === "chat");
    assert.equal(facts.prompt.chat.messages[0]?.text.length, bytes - EMPTY.length);
    assert.deepEqual(facts.output, { kind: "limited", answers: 1, tokensEach: 7 });
    assert.equal(facts.model, "m");
  }
});

test("tells the size alone of a text that is never tokenized, to the byte", async () => {
  for (const bytes of [1_048_575, 1_048_576, 1_048_577, 4_194_303, 4_194_305, 15_000_000]) {
    const facts = await read(chatOf(bytes));
    assert.ok(facts?.prompt?.kind === "large", `${bytes}`);
    const { bytes: counted, mayGrow, pieces, idCount } = facts.prompt.large;
    assert.equal(counted, bytes - EMPTY.length + "user \n".length);
    assert.deepEqual([mayGrow, pieces, idCount], [false, 2, 0]);
    assert.equal(facts.model, "m");
  }
});

test("says when NFC may lengthen what is only measured", async () => {
  const facts = await read(chatOf(300_000, "\u0958"));
  assert.ok(facts?.prompt?.kind === "large" && facts.prompt.large.mayGrow);
});

test("hands over tokens that came as ids by their number", async () => {
  const ids = JSON.stringify({ prompt: Array.from({ length: 200_000 }, (_, id) => id) });
  const facts = await read(ids, "/v1/completions");
  assert.deepEqual(facts?.prompt, {
    kind: "completion",
    completion: { texts: [], idCount: 200_000, prompts: 1 },
  });
});

test("knows nothing of a body that is broken, nested without end, or too much for a thread's memory", async () => {
  const open = "[".repeat(100_000);
  const close = "]".repeat(100_000);
  const message = '{"role":"user","content":"x"}';
  for (const [name, text] of Object.entries({
    "cut off": chatOf(100_000).slice(0, -5),
    "opened only": open,
    "nested tools": `{"messages":[${message}],"tools":[{"type":"function","function":${open}${close}}]}`,
    "nested arguments": `{"messages":[{"role":"assistant","tool_calls":[{"name":"f","arguments":${open}${close}}]}]}`,
    "a BOM": `\ufeff${chatOf(100_000)}`,
    "no JSON": "x".repeat(100_000),
  })) {
    assert.equal((await read(text))?.prompt, undefined, name);
  }
  // Five million objects: the thread dies of them, or takes too long; the next body is read as ever.
  await read(`{"messages":[${"{},".repeat(5_000_000)}{}]}`);
  assert.equal((await read(chatOf(100_000)))?.model, "m");
});

test("takes odd keys for what they are", async () => {
  const padding = "x".repeat(70_000);
  const proto = await read(`{"__proto__":{"messages":[]},"constructor":1,"pad":"${padding}","model":"m"}`);
  assert.equal(proto?.model, "m");
  assert.equal(proto?.prompt, undefined);
  assert.equal(({} as Record<string, unknown>).messages, undefined);
  const tool = '{"type":"function","function":{"name":"f","parameters":{"__proto__":{"polluted":true}}}}';
  const chat = await read(
    `{"messages":[{"role":"user","content":"${padding}"}],"tools":[${tool}],"model":"a","model":"b"}`,
  );
  assert.equal(chat?.model, "b");
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.ok(chat?.prompt?.kind === "chat");
  const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":0`).join(",");
  // More than a second's work for a thread that shares its core; either way the next body is read.
  await read(`{${keys},"model":"m"}`);
  assert.equal((await read(chatOf(100_000)))?.model, "m");
});

test("reads half surrogate pairs and broken UTF-8 as servers do", async () => {
  const padding = "x".repeat(70_000);
  const facts = await read(`{"model":"\\ud800","messages":[{"role":"user","content":"\\udfff${padding}"}]}`);
  assert.equal(facts?.prompt?.kind, "chat");
  const [before, after] = chatOf(100_000).split("xx");
  const broken = Buffer.concat([
    Buffer.from(`${before}`),
    Buffer.from([0xff, 0xc0]),
    Buffer.from(`${after}`),
  ]);
  assert.ok((await read(broken)) !== null);
});

test("never throws, whatever the bytes", async () => {
  const padding = " ".repeat(65_537);
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array(), fc.string()), fc.boolean(), async (noise, isLarge) => {
      await read(Buffer.concat([Buffer.from(isLarge ? padding : ""), Buffer.from(noise as string)]));
    }),
    { numRuns: 200 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ModelEditor } from "../../../extproc/rewrite/model-editor.js";
import { blanks, jsonValue } from "../support/json-texts.js";
import { cut } from "../support/pieces.js";

function edit(text: string, isEventStream: boolean, lengths: readonly number[] = [text.length]): string {
  const editor = new ModelEditor("mine", isEventStream);
  return Buffer.concat(cut(Buffer.from(text), lengths).map((piece) => editor.push(piece))).toString();
}

test("replaces the model's name and no other byte", () => {
  const rest =
    ' ,"seed":9007199254740993,"choices":[{"model":"inner","message":{"content":"\\"model\\":\\"m\\""}}]}\n';
  assert.equal(edit(`{ "id":"1","model" : "m\\"x"${rest}`, false), `{ "id":"1","model" : "mine"${rest}`);
  assert.equal(edit('{"model":"a","model":"b"}', false), '{"model":"mine","model":"mine"}');
});

test("finds the name that Responses and Messages wrap", () => {
  assert.equal(
    edit(
      '{"type":"response.created","response":{"id":"1","model":"m","x":{"model":"y"}},"model":null}',
      false,
    ),
    '{"type":"response.created","response":{"id":"1","model":"mine","x":{"model":"y"}},"model":null}',
  );
  assert.equal(edit('{"message":{"model":"m"}}', false), '{"message":{"model":"mine"}}');
  const others = '{"error":{"model":"m"},"response":[{"model":"m"}],"message":"model","x":["model","m"]}';
  assert.equal(edit(others, false), others);
});

test("leaves a name that is no text", () => {
  const kept = '{"model":null,"model":7,"model":["m"],"model":{"model":"m"}}';
  assert.equal(edit(kept, false), kept);
  assert.equal(edit('["model","m"]', false), '["model","m"]');
});

test("maps each event of a stream, with any line ends, and nothing else", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const stream = (model: string) =>
      [
        `: "model":"m"`,
        "",
        "event: x",
        `data: {"model":"${model}"}`,
        "",
        `data:{"a":1,`,
        `data: "model":"${model}"}`,
        "",
        `data: {"unfinished":{`,
        "",
        `data: {"model":"${model}"}`,
        'x: {"model":"m"}',
        "",
        "data: [DONE]",
        "",
        "",
      ].join(end);
    assert.equal(edit(stream("m"), true), stream("mine"));
  }
});

test("gives the same bytes wherever the pieces are cut", () => {
  const key = fc.constantFrom("model", "response", "message", "choices", "model2", "é");
  const member = fc
    .tuple(key, blanks, blanks, fc.oneof(fc.constant('"m\\\\\\"é"'), jsonValue))
    .map(([name, left, right, value]) => `"${name}"${left}:${right}${value}`);
  const object = fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(",")}}`);
  fc.assert(
    fc.property(object, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, lengths) => {
      const whole = edit(text, false);
      assert.equal(edit(text, false, lengths), whole);
      const before = JSON.parse(text) as Record<string, unknown>;
      const after = JSON.parse(whole) as Record<string, unknown>;
      for (const name of Object.keys(before)) {
        if (name === "model" && typeof before.model === "string") assert.equal(after.model, "mine");
        else if (name !== "response" && name !== "message") assert.deepEqual(after[name], before[name]);
      }
      const oneLine = text.replace(/[\r\n]/g, " ");
      const events = `data: ${oneLine}\n\ndata: ${oneLine}\r\n\r\n`;
      assert.equal(
        edit(events, true, lengths),
        events.replaceAll(oneLine, () => edit(oneLine, false)),
      );
    }),
    { numRuns: 1000 },
  );
});

test("keeps up with a large answer, and holds nothing of it", () => {
  const text = `{"data":[${"0.0123,".repeat(400_000)}0],"model":"m"}`;
  const startedAt = performance.now();
  assert.ok(edit(text, false, [65_536]).endsWith('"model":"mine"}'));
  assert.ok(performance.now() - startedAt < 2_000);
});

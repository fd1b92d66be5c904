import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOf, rewriteBody } from "../../../extproc/rewrite/edits.js";
import { readRules } from "../../../extproc/rewrite/rules.js";

/** `metadata` as the cluster states it; a body that is no JSON object comes back as it is. */
function rewrite(text: string, metadata: Record<string, string>, path = "/v1/chat/completions"): string {
  const body = Buffer.from(text);
  return (rewriteBody(body, readRules(new Map(Object.entries(metadata))).usual, path) ?? body).toString();
}

test("changes the model's name and no other byte", () => {
  const rest = ' ,"seed":12345678901234567890, "t":1.0,"e":"\\u00e9\\/","messages":[{"model":"inner"}] }\n';
  assert.equal(rewrite(`{ "model" : "qwen3-32b"${rest}`, { model: "q" }), `{ "model" : "q"${rest}`);
  assert.equal(rewrite(`{"model":"x"${rest}`, { model: '模型-é "q"' }), `{"model":"模型-é \\"q\\""${rest}`);
});

test("changes every occurrence of a duplicate or escaped key", () => {
  assert.equal(
    rewrite('{"model":"a","mod\\u0065l":"b","model":"c"}', { model: "z" }),
    '{"model":"z","mod\\u0065l":"z","model":"z"}',
  );
  assert.equal(
    rewrite('{"max_tokens":9,"max_tokens":1,"prompt":""}', { maxOutputTokens: "5" }),
    '{"max_tokens":5,"max_tokens":1,"prompt":""}',
  );
});

test("lowers a cap that is larger and leaves one that fits", () => {
  const rules = { maxOutputTokens: "1024" };
  assert.equal(rewrite('{"max_tokens":4096}', rules), '{"max_tokens":1024}');
  assert.equal(rewrite('{"max_completion_tokens":1e9}', rules), '{"max_completion_tokens":1024}');
  assert.equal(rewrite('{"max_tokens":"4096"}', rules), '{"max_tokens":1024}');
  assert.equal(rewrite('{"max_tokens":-1}', rules), '{"max_tokens":1024}');
  for (const kept of [
    '{"max_tokens":1024}',
    '{"max_tokens":16.0}',
    '{"max_tokens":"x"}',
    '{"max_tokens":{}}',
  ]) {
    assert.equal(rewrite(kept, rules), kept);
  }
});

test("lowers a cap however its digits are spelt in quotes", () => {
  const blanks = " ".repeat(80);
  for (const spelt of [
    "9999\\u0030",
    "1_000_000",
    " 4096 ",
    "4096\\n",
    "٤٠٩٦",
    `${blanks}4096`,
    "9".repeat(70),
    "+4096",
  ]) {
    assert.equal(
      rewrite(`{"max_tokens":"${spelt}"}`, { maxOutputTokens: "1024" }),
      '{"max_tokens":1024}',
      spelt,
    );
  }
  for (const kept of ["16", "1_000", " 16"]) {
    const body = `{"max_tokens":"${kept}"}`;
    assert.equal(rewrite(body, { maxOutputTokens: "1024" }), body);
  }
});

test("a key in another letter case is another key", () => {
  assert.equal(
    rewrite('{"model":"a","Model":"b","MODEL":1}', { model: "m" }),
    '{"model":"m","Model":"b","MODEL":1}',
  );
});

test("takes a body of a hostile number of members for none", () => {
  const members = (count: number) => `{${Array.from({ length: count }, () => '"":0').join(",")}}`;
  assert.equal(rewrite(members(4096), { model: "m" }), members(4096));
  const { usual } = readRules(new Map([["model", "m"]]));
  assert.ok(rewriteBody(Buffer.from(members(3_000_000)), usual, "/v1/chat/completions") === undefined);
});

test("reads null as no limit unless the other name sets one", () => {
  const rules = { maxOutputTokens: "9" };
  assert.equal(rewrite('{"max_tokens":null}', rules), '{"max_tokens":9}');
  const kept = '{"max_tokens":null,"max_completion_tokens":5}';
  assert.equal(rewrite(kept, rules), kept);
  assert.equal(rewrite('{"max_tokens":5,"max_tokens":null}', rules), '{"max_tokens":5,"max_tokens":9}');
});

test("adds the cap to chats and completions that have none, by the name the model takes", () => {
  assert.equal(rewrite('{"messages":[] }', { maxOutputTokens: "9" }), '{"messages":[],"max_tokens":9 }');
  assert.equal(
    rewrite('{"model":"a","messages":[]}', { maxOutputTokens: "9", model: "o3-mini" }),
    '{"model":"o3-mini","messages":[],"max_completion_tokens":9}',
  );
  assert.equal(
    rewrite('{"prompt":"x","model":"a"}', { maxOutputTokens: "9", model: "b" }),
    '{"prompt":"x","model":"b","max_tokens":9}',
  );
  for (const kept of ['{"input":"x"}', "{}"]) assert.equal(rewrite(kept, { maxOutputTokens: "9" }), kept);
});

test("caps what a Responses call asks, by its own name", () => {
  const path = "/v1/responses";
  assert.equal(
    rewrite('{"input":"x"}', { maxOutputTokens: "9" }, path),
    '{"input":"x","max_output_tokens":9}',
  );
  const asked = '{"input":"x","max_output_tokens":4096}';
  assert.equal(rewrite(asked, { maxOutputTokens: "16" }, path), '{"input":"x","max_output_tokens":16}');
});

test("names a chat's limit as the backend does", () => {
  const reasoning = { outputTokensField: "max_completion_tokens" };
  assert.equal(
    rewrite('{ "max_tokens" : 5, "messages":[]}', reasoning),
    '{ "max_completion_tokens" : 5, "messages":[]}',
  );
  assert.equal(
    rewrite('{"max_tokens":5,"messages":[],"max_completion_tokens":7}', reasoning),
    '{"messages":[],"max_completion_tokens":7}',
  );
  assert.equal(
    rewrite('{"max_completion_tokens":null,"messages":[],"max_tokens":5}', reasoning),
    '{"messages":[],"max_completion_tokens":5}',
  );
  assert.equal(
    rewrite('{"max_completion_tokens":4096,"messages":[]}', {
      outputTokensField: "max_tokens",
      maxOutputTokens: "1024",
    }),
    '{"max_tokens":1024,"messages":[]}',
  );
  assert.equal(
    rewrite('{"messages":[]}', { ...reasoning, maxOutputTokens: "9" }),
    '{"messages":[],"max_completion_tokens":9}',
  );
  const legacy = '{"prompt":"x","max_tokens":5}';
  assert.equal(rewrite(legacy, reasoning), legacy);
});

test("takes fields out with one comma each, wherever they stand", () => {
  const remove = { remove: "a, b" };
  for (const [given, wanted] of [
    ['{"a":1,"c":2}', '{"c":2}'],
    ['{ "c" : 2 , "a" : 1 }', '{ "c" : 2 }'],
    ['{"c":1, "a":{"x":[1,2]},"b":"," , "d":2}', '{"c":1, "d":2}'],
    ['{"a":1,"b":2}', "{}"],
    ['{"a":1,"c":2,"a":3,"d":4,"a":5}', '{"c":2,"d":4}'],
    ['{"x":{"a":1}}', '{"x":{"a":1}}'],
  ] as const) {
    assert.equal(rewrite(given, remove), wanted);
  }
  assert.equal(
    rewrite('{"messages":[],"a":1}', { remove: "a", maxOutputTokens: "9" }),
    '{"messages":[],"max_tokens":9}',
  );
  assert.equal(rewrite('{"prompt":"x", "a":1 }', { remove: "a, prompt" }), "{ }");
});

test("takes out all that tools are asked by", () => {
  const tools =
    '{"tools":[{"type":"function"}],"model":"m","tool_choice":"auto","parallel_tool_calls":false,"functions":[],"function_call":"none"}';
  assert.equal(rewrite(tools, { remove: "tools" }), '{"model":"m"}');
});

test("takes out web search, and leaves a function of that name", () => {
  const own = '{"type":"function","function":{"name":"web_search"}}';
  const remove = { remove: "web_search" };
  assert.equal(
    rewrite(`{"tools":[{"type":"web_search_preview"}, ${own} ,{"type":"web_search_2025_08_26"}]}`, remove),
    `{"tools":[${own}]}`,
  );
  assert.equal(
    rewrite('{"input":"x","tools":[{"type":"web_search"}],"tool_choice":"required"}', remove),
    '{"input":"x"}',
  );
  assert.equal(
    rewrite(`{"web_search_options":{},"tools":[${own}],"tool_choice":{"type":"web_search"}}`, remove),
    `{"tools":[${own}]}`,
  );
  const odd = '{"tools":[1,null,"web_search",{"type":5}]}';
  assert.equal(rewrite(odd, remove), odd);
});

test("gives fields the backend's names, and lets one that is there already win", () => {
  const rename = { rename: "seed=random_seed, a=b" };
  assert.equal(
    rewrite('{"seed":9007199254740993,"a" :-0}', rename),
    '{"random_seed":9007199254740993,"b" :-0}',
  );
  assert.equal(rewrite('{"seed":1,"random_seed":2}', rename), '{"random_seed":2}');
  assert.equal(rewrite('{"a":1}', { rename: "a=a" }), '{"a":1}');
  const both = { rename: "max_tokens=max_new_tokens", maxOutputTokens: "9" };
  assert.equal(rewrite('{"prompt":""}', both), '{"prompt":"","max_new_tokens":9}');
  assert.equal(rewrite('{"prompt":"","max_tokens":10}', both), '{"prompt":"","max_new_tokens":9}');
});

test("asks for the usage of streams, and of nothing else", () => {
  const usage = { includeUsage: "true" };
  const chat = '{"messages":[],"stream":true';
  assert.equal(rewrite(`${chat}}`, usage), `${chat},"stream_options":{"include_usage":true}}`);
  assert.equal(
    rewrite(`${chat},"stream_options":{ "x":1 }}`, usage),
    `${chat},"stream_options":{ "x":1,"include_usage":true }}`,
  );
  assert.equal(
    rewrite(`${chat},"stream_options":{"include_usage" : false}}`, usage),
    `${chat},"stream_options":{"include_usage" : true}}`,
  );
  assert.equal(
    rewrite(`${chat},"stream_options":null}`, usage),
    `${chat},"stream_options":{"include_usage":true}}`,
  );
  for (const kept of [
    '{"messages":[],"stream":false}',
    '{"messages":[]}',
    '{"messages":[],"stream":"true"}',
    '{"input":"x","stream":true}',
  ]) {
    assert.equal(rewrite(kept, usage), kept);
  }
});

test("leaves alone what is no JSON object, has no model, or already fits", () => {
  const metadata = { model: "m", maxOutputTokens: "9" };
  for (const kept of ["", "x", "[]", '{"model":"a"', '{"model":7}', '{"model":"m"}']) {
    assert.equal(rewrite(kept, metadata), kept);
  }
  const body = Buffer.from('{"model":"a","messages":[]}');
  assert.equal(rewriteBody(body, readRules(new Map()).usual, "/"), body);
  assert.equal(rewriteBody(Buffer.from("[]"), readRules(new Map()).usual, "/"), undefined);
});

test("keeps a byte order mark and bytes that are no UTF-8", () => {
  const rules = readRules(new Map([["model", "bb"]])).usual;
  const noise = Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80]);
  const bodyWith = (model: string) =>
    Buffer.concat([Buffer.from(`\ufeff{"model":"${model}","x":"`), noise, Buffer.from('"}')]);
  assert.deepEqual(rewriteBody(bodyWith("a"), rules, "/"), bodyWith("bb"));
});

test("reads the model's name as its sender gave it", () => {
  assert.equal(modelOf(Buffer.from(`{"model":"${"é".repeat(64)}"}`)), "é".repeat(64));
  assert.equal(
    modelOf(Buffer.from(`{"model":"${"é".repeat(65)}"}`)),
    undefined,
    "no model's name is as long",
  );
  assert.equal(modelOf(Buffer.from('\ufeff{"model":"a","mod\\u0065l":"b\\u00e9"}')), "bé");
  for (const none of ["", "[]", "{}", '{"model":7}', '{"model":"\\x"}']) {
    assert.equal(modelOf(Buffer.from(none)), undefined, none);
  }
});

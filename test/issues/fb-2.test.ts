import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { neverOpen, type Rig, startRig } from "../e2e/support/rig.js";
import { clusterOf, nameChainsByRoute, routeOf, type ShippedConfig } from "../e2e/support/shipped-config.js";
import { type Answer, send } from "../support/client.js";

/** `small` names the model as its caller did, `public` as it calls it itself. */
const [SMALL, PUBLIC] = ["qwen3-4b", "gpt-4o-mini"];

let rig: Rig;

function onlyTheModel(config: ShippedConfig, name: string, more: Record<string, string>): void {
  const metadata = clusterOf(config, name).metadata.filter_metadata["llm.breaker"];
  delete metadata.maxOutputTokens;
  delete metadata.degradedMaxOutputTokens;
  Object.assign(metadata, more);
}

before(async () => {
  rig = await startRig({
    policy: neverOpen,
    patch: (config) => {
      // By its model a body with two names for one is refused; this chain is the route's.
      nameChainsByRoute(config);
      routeOf(config).metadata = { filter_metadata: { "llm.breaker": { chain: "chat" } } };
      onlyTheModel(config, "small", { model: SMALL, answerModel: "caller" });
      onlyTheModel(config, "public", { model: PUBLIC });
    },
  });
});

beforeEach(() => {
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

/** What stands in the one place in which two texts differ. */
function hunk(before: Buffer, after: Buffer): [string, string] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [
    before.toString("latin1", start, before.length - end),
    after.toString("latin1", start, after.length - end),
  ];
}

const messages = '"messages":[{"role":"user","content":"hi"}]';

const bodies: Record<string, Buffer> = {
  "numbers beyond a double": Buffer.from(
    `{"seed":9007199254740993,"model":"CALLERS",${messages},"a":1e400,"b":1.0,"c":-0,"d":0.1E+2}`,
  ),
  "blanks, escapes and the order of keys": Buffer.from(
    `{ "z" : "\\u002f\\/" ,\r\n\t"model":\t"CALLERS" , "a":"\\ud800",${messages} }\n`,
  ),
  "unknown fields, deep, and other keys named model": Buffer.from(
    `{"Model":"x",${messages},"model":"CALLERS","extra":{"model":"CALLERS2","list":[{"model":[[[7]]]}]}}`,
  ),
  "bytes that are no UTF-8, behind a byte order mark": Buffer.concat([
    Buffer.from(`\ufeff{"x":"`),
    Buffer.from([0xff, 0xc0, 0xed, 0xa0, 0x80]),
    Buffer.from(`","model":"CALLERS",${messages}}`),
  ]),
};

for (const [what, body] of Object.entries(bodies)) {
  test(`FB-2: a fallback's body differs in the model only: ${what}`, async () => {
    const answer = await send(`${rig.url}/v1/chat/completions`, { body });
    assert.equal(answer.headers["x-llm-breaker-backend"], "small", answer.text);
    const got = rig.small.arrivals.at(-1)?.body ?? Buffer.alloc(0);
    assert.deepEqual(hunk(body, got), ["CALLERS", SMALL]);
    assert.equal(Number(rig.small.arrivals.at(-1)?.headers["content-length"]), got.length);
  });
}

async function ask(backend: "small" | "public", stream: boolean): Promise<Answer> {
  if (backend === "public") rig.small.mode = { kind: "status", status: 500 };
  const body = `{"model":"callers-name",${messages},"stream":${stream}}`;
  const answer = await send(`${rig.url}/v1/chat/completions`, { body });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], backend);
  assert.equal(answer.complete, true);
  return answer;
}

for (const [backend, own, wanted] of [
  ["small", SMALL, "callers-name"],
  ["public", PUBLIC, PUBLIC],
] as const) {
  for (const stream of [false, true]) {
    const how = wanted === own ? "passed on" : "mapped back";
    test(`FB-2: the model's name in ${stream ? "a stream" : "JSON"} is ${how}`, async () => {
      const { text, headers } = await ask(backend, stream);
      const names = [...text.matchAll(/"model":"([^"]*)"/g)].map(([, name]) => name);
      assert.equal(names.length, stream ? 7 : 1);
      assert.deepEqual(new Set(names), new Set([wanted]));
      assert.equal(headers["x-llm-breaker-adapted"], undefined, "a header of ours stays inside");
      if (headers["content-length"] !== undefined) {
        assert.equal(Number(headers["content-length"]), Buffer.byteLength(text));
      }
    });
  }
}

// Bodies of requests, as the service reads them.
import assert from "node:assert/strict";
import fc from "fast-check";
import { readFacts } from "../../../extproc/body/facts.js";
import { parseObject, toPythonJson } from "../../../extproc/body/json.js";
import { namesTwoModels } from "../../../extproc/body/model-keys.js";
import { scanElements, scanTopLevel } from "../../../extproc/body/top-level.js";
import { printJson, rawElements, rawMember } from "../../../extproc/dialects/raw-json.js";
import { readAsk } from "../../../extproc/reply/ask.js";
import { rewriteBody } from "../../../extproc/rewrite/edits.js";
import { readRules } from "../../../extproc/rewrite/rules.js";
import { jsonValue } from "../../extproc/support/json-texts.js";
import { BODIES, REQUEST_WORDS } from "../corpus/requests.js";
import { sessionOf, toBuffers } from "../support/plain-session.js";
import { sizeClass, strictJson } from "../support/told.js";
import type { Target } from "../target.js";

const PATHS = [
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/responses",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/generate",
  "/openai/deployments/d/chat/completions",
  "/v2/models/m/generate_stream",
];
const MAX_MODEL_LENGTH = 256;

export const serviceBody: Target = {
  name: "service-body",
  parsers: [
    "chat",
    "chat-completion",
    "completion",
    "content",
    "embeddings",
    "endpoints",
    "facts",
    "generate",
    "json",
    "messages",
    "model-keys",
    "output-ask",
    "prompt",
    "responses",
  ]
    .map((name) => `extproc/body/${name}.ts`)
    .concat("extproc/reply/ask.ts"),
  seeds: toBuffers(BODIES),
  words: REQUEST_WORDS,
  open: sessionOf((bytes, random) => {
    const path = random.pick(PATHS);
    const facts = readFacts(path, bytes, random.oneIn(2));
    const body = parseObject(bytes);
    assert.equal(facts === undefined, body === undefined, "facts of what is no object");
    if (facts === undefined || body === undefined) return "";
    assert.ok((facts.model ?? "").length <= MAX_MODEL_LENGTH, "a model's name without a bound");
    readAsk(path, body);
    const { prompt, output, media, stream } = facts;
    // A thread's answer, and a template's input.
    structuredClone(facts);
    if (prompt?.kind === "chat") toPythonJson(prompt.chat.tools);
    return `${prompt?.kind},${output.kind},${stream},${media.images > 0},${facts.model === undefined},${path}`;
  }),
};

export const serviceTopLevel: Target = {
  name: "service-top-level",
  parsers: ["extproc/body/top-level.ts", "extproc/dialects/raw-json.ts", "extproc/body/json.ts"],
  seeds: toBuffers([...BODIES, ...fc.sample(jsonValue, { numRuns: 200, seed: 5 })]),
  words: [...REQUEST_WORDS, '"a":', '"\\""', "[1,2]", '{"b":[{}]}'],
  open: sessionOf((bytes) => {
    const top = scanTopLevel(bytes);
    const elements = scanElements(bytes);
    namesTwoModels(bytes);
    const json = strictJson(bytes);
    if (json !== undefined) judgeScan(bytes, json.value);
    if (top === undefined) return elements === undefined ? "" : `[${sizeClass(elements.length)}`;
    return `${sizeClass(top.members.length)},${top.members.slice(0, 4).map(({ key }) => key.slice(0, 8))}`;
  }),
};

/** What V8 takes is taken, and each value is V8's. */
function judgeScan(bytes: Buffer, value: unknown): void {
  const top = scanTopLevel(bytes);
  const elements = scanElements(bytes);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  assert.equal(top !== undefined, isObject, "objects are what is scanned");
  assert.equal(elements !== undefined, Array.isArray(value), "arrays are what is scanned");
  const given = value as Record<string, unknown>;
  for (const key of isObject ? Object.keys(given) : []) {
    const raw = rawMember(bytes, key) ?? assert.fail(`no member ${key}`);
    assert.equal(JSON.stringify(JSON.parse(raw.toString("utf8"))), JSON.stringify(given[key]), key);
  }
  if (Array.isArray(value)) {
    const parsed = rawElements(bytes).map((raw) => JSON.parse(raw.toString("utf8")));
    assert.equal(JSON.stringify(parsed), JSON.stringify(value));
  }
  assert.equal(printJson(value), JSON.stringify(value));
  assert.equal(JSON.stringify(JSON.parse(toPythonJson(value))), JSON.stringify(value));
}

const RULES = [
  { model: "other", remove: "user,n,tools", includeUsage: "true", maxOutputTokens: "10" },
  { rename: "max_tokens:max_completion_tokens,stop:end", outputTokensField: "max_completion_tokens" },
  { model: 'a"\\', remove: "web_search,messages", maxOutputTokens: "1", outputTokensField: "max_tokens" },
].map((texts) => readRules(new Map(Object.entries(texts))).usual);

export const serviceRewrite: Target = {
  name: "service-rewrite",
  parsers: [
    "extproc/rewrite/edits.ts",
    "extproc/rewrite/plan.ts",
    "extproc/rewrite/removal.ts",
    "extproc/rewrite/output-cap.ts",
    "extproc/rewrite/usage-option.ts",
    "extproc/body/splice.ts",
  ],
  seeds: toBuffers(BODIES),
  words: [...REQUEST_WORDS, '"user":', '"web_search_options":', '"stream_options":', "\ufeff"],
  open: sessionOf((bytes, random) => {
    const rules = random.pick(RULES);
    const rewritten = rewriteBody(bytes, rules, random.pick(PATHS));
    if (rewritten === undefined) return "";
    assert.ok(rewritten.length <= bytes.length + 400, "it grows beyond what is put in");
    const again = rewriteBody(rewritten, rules, "/v1/chat/completions");
    assert.ok(again !== undefined, "what was written is no object");
    if (strictJson(bytes) !== undefined) {
      const body = strictJson(rewritten) ?? assert.fail("good JSON became bad");
      const model = (body.value as Record<string, unknown>).model;
      if (rules.model !== undefined && typeof model === "string") assert.equal(model, rules.model);
    }
    return `${RULES.indexOf(rules)},${sizeClass(rewritten.length)},${rewritten === bytes}`;
  }),
};

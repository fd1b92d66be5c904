import assert from "node:assert/strict";
import { test } from "node:test";
import { readRules } from "../../../extproc/rewrite/rules.js";

const read = (metadata: Record<string, string>) => readRules(new Map(Object.entries(metadata)));

test("a cluster without metadata asks for nothing", () => {
  const { usual, degraded, problems } = read({});
  assert.deepEqual(usual, degraded);
  assert.deepEqual(problems, []);
  assert.deepEqual(usual, {
    backend: undefined,
    model: undefined,
    maxOutputTokens: undefined,
    outputTokensField: undefined,
    remove: new Set(),
    removesWebSearch: false,
    rename: [],
    includesUsage: false,
    mapsModelBack: false,
    dialect: undefined,
    isGuarded: true,
  });
});

test("reads every key, lists with blanks, and what groups stand for", () => {
  const { usual, problems } = read({
    backend: "small",
    model: "模型-é",
    maxOutputTokens: "1024",
    outputTokensField: "max_completion_tokens",
    remove: " tools,web_search , logit_bias,",
    rename: "seed = random_seed,a=b",
    includeUsage: "true",
    answerModel: "caller",
    dialect: "anthropic",
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(usual, {
    backend: "small",
    model: "模型-é",
    maxOutputTokens: 1024,
    outputTokensField: "max_completion_tokens",
    remove: new Set([
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "functions",
      "function_call",
      "web_search_options",
      "logit_bias",
    ]),
    removesWebSearch: true,
    rename: [
      ["seed", "random_seed"],
      ["a", "b"],
    ],
    includesUsage: true,
    mapsModelBack: true,
    dialect: "anthropic",
    isGuarded: true,
  });
});

test("degraded rules come on top of the usual ones, and the smaller cap holds", () => {
  const { usual, degraded } = read({
    maxOutputTokens: "4096",
    remove: "seed",
    degradedMaxOutputTokens: "1024",
    degradedRemove: "web_search",
  });
  assert.deepEqual([usual.maxOutputTokens, degraded.maxOutputTokens], [4096, 1024]);
  assert.deepEqual(degraded.remove, new Set(["seed", "web_search_options"]));
  assert.deepEqual([usual.removesWebSearch, degraded.removesWebSearch], [false, true]);
  const looser = read({ maxOutputTokens: "100", degradedMaxOutputTokens: "1024" });
  assert.equal(looser.degraded.maxOutputTokens, 100);
  assert.equal(looser.usual.isGuarded, true);
  assert.equal(read({ backend: "gpu", degradedRemove: "tools" }).usual.isGuarded, false);
});

test("a value that can't be used is told of and passed over", () => {
  for (const cap of ["0", "-1", "1.5", "many", "99999999999"]) {
    const { usual, problems } = read({ backend: "small", maxOutputTokens: cap });
    assert.equal(usual.maxOutputTokens, undefined);
    assert.deepEqual(problems, [
      `cluster metadata of backend small: maxOutputTokens must be a positive whole number, got "${cap}", ignored`,
    ]);
  }
  const { usual, problems } = read({
    outputTokensField: "max",
    includeUsage: "yes",
    answerModel: "mine",
    dialect: "gemini",
    rename: "a, b=, c=d=e, f=g",
  });
  assert.deepEqual(usual.rename, [["f", "g"]]);
  assert.equal(problems.length, 7);
  assert.equal(
    problems.find((problem) => problem.includes("dialect")),
    'cluster metadata: dialect must be anthropic, got "gemini", ignored',
  );
});

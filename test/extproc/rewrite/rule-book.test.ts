import assert from "node:assert/strict";
import { test } from "node:test";
import { RuleBook } from "../../../extproc/rewrite/rule-book.js";
import { clusterMetadata } from "../support/client.js";

const degraded = (state: string) => ({ "filter_state['wasm.llm.breaker.degrade']": state });
const attributes = (...parts: Record<string, string>[]) =>
  new Map(Object.entries(Object.assign({}, ...parts)));

test("takes the degraded rules while the meter says so", () => {
  const warnings: string[] = [];
  const book = new RuleBook((problem) => warnings.push(problem));
  const metadata = clusterMetadata({ maxOutputTokens: "9", degradedMaxOutputTokens: "5" });
  const capIn = (state?: string) =>
    book.rulesFor(attributes(metadata, state === undefined ? {} : degraded(state)) as Map<string, string>)
      .maxOutputTokens;
  assert.deepEqual([capIn("half-open"), capIn("queue"), capIn("no"), capIn("x"), capIn()], [5, 5, 9, 9, 9]);
  assert.deepEqual(warnings, []);
});

test("tells once of each thing that is wrong", () => {
  const warnings: string[] = [];
  const book = new RuleBook((problem) => warnings.push(problem));
  for (let call = 0; call < 3; call++) {
    book.rulesFor(attributes(clusterMetadata({ maxOutputTokens: "x" })) as Map<string, string>);
    book.rulesFor(new Map());
  }
  assert.equal(warnings.length, 2);
});

test("holds a bounded number of texts", () => {
  const book = new RuleBook(() => {});
  for (let version = 1; version < 2000; version++) {
    const rules = book.rulesFor(
      attributes(clusterMetadata({ maxOutputTokens: String(version) })) as Map<string, string>,
    );
    assert.equal(rules.maxOutputTokens, version);
  }
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Service } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { waitFor } from "../../support/wait-for.js";
import { type ServiceClient, startForTest } from "../support/client.js";

// Long limits: a slow machine is to wait for the exact count.
const TOKENS = { timeLimit: "20s", preload: ["cl100k"] };

let service: Service;
let client: ServiceClient;

before(async () => {
  ({ service, client } = await startForTest({ tokens: TOKENS }));
});
after(async () => {
  client.close();
  await service.close();
});

async function count(model: string) {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] });
  return client.count("/v1/chat/completions", body);
}

test("counts a preloaded family exactly from the first request on", async () => {
  assert.deepEqual((await count("gpt-4")).exact, true);
});

test("answers a bound at the first use of another family, and the count once it is loaded", async () => {
  const first = await count("llama-3.1-8b-instruct");
  assert.equal(first.exact, false);
  const isExact = async () => (await count("llama-3.1-8b-instruct")).exact;
  await waitFor(isExact, 20_000, "the vocabulary");
  const loaded = await count("llama-3.1-8b-instruct");
  assert.ok(Number(loaded.promptTokens) <= Number(first.promptTokens));
});

test("keeps vocabularies for the next configuration", async () => {
  const { listen, log, ...rest } = parseConfig({ tokens: { ...TOKENS, imageTokens: 1 } });
  await service.reconfigure({ ...rest, listen, log: { ...log, level: "silent" } });
  for (const model of ["gpt-4", "llama-3.1-8b-instruct"])
    assert.equal((await count(model)).exact, true, model);
});

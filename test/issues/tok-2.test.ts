import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import type { Rig } from "../e2e/support/rig.js";
import { type Answer, send } from "../support/client.js";
import { assertServiceWell, factsOf, startCounted } from "./support/counted.js";

const EXTRA_MS = 50;
/** Other processes of the machine can only make a run slower, so the best of some runs is what the service does. */
const RUNS = 5;
const SMALL_CALLS = 10;
/** The largest prompt of a canary. */
const CANARY_TOKENS = 256;

const base64 = Buffer.from(
  Array.from({ length: 150_000 }, (_, index) => (index * index * 31 + index * 7) % 251),
);
const mixed = `${"a".repeat(3000)}${"^".repeat(3000)}${" ".repeat(3000)}今天天气\u0301\u0323👍🏽 x `;

const LARGE: Record<string, string> = {
  "100,000 times a": "a".repeat(100_000),
  "1,000,000 carets": "^".repeat(1_000_000),
  "200 kB of base64": base64.toString("base64"),
  "100,000 blanks": " ".repeat(100_000),
  "1 MB of a mixture": mixed.repeat(110),
};

let counted: Rig;

before(async () => {
  counted = await startCounted({ serviceConfig: {} });
});
after(() => counted.stop());

function ask(content: string): Promise<Answer> {
  const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content }] });
  return send(`${counted.url}/v1/chat/completions`, { body });
}

/** Small requests one after another; the time of the slowest but one, since one outlier is the machine's. */
async function smallOnes(): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < SMALL_CALLS; index++) times.push((await ask("Hello!")).totalMs);
  return times.sort((a, b) => a - b).at(-2) ?? 0;
}

for (const [name, content] of Object.entries(LARGE)) {
  test(`TOK-2: ${name} is answered in time, never a canary, and small requests beside it see less than ${EXTRA_MS} ms more`, async () => {
    const extras: number[] = [];
    let told = 0;
    for (let run = 0; run < RUNS; run++) {
      const alone = await smallOnes();
      counted.reset();
      const large = ask(content);
      extras.push((await smallOnes()) - alone);
      const answer = await large;
      assert.equal(answer.status, 200, answer.text);
      const sent = createHash("sha256")
        .update(JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content }] }))
        .digest("hex");
      assert.ok(counted.gpu.arrivals.some(({ bodySha256 }) => bodySha256 === sent));
      // Without facts Envoy's message timeout was over before the service's answer.
      const { promptTokens, canary } = factsOf(answer);
      if (promptTokens === undefined) continue;
      told++;
      assert.ok(Number(promptTokens) > CANARY_TOKENS, `${promptTokens}`);
      assert.equal(canary, false);
    }
    assert.ok(told > 0, "no run was answered within the message timeout");
    assert.ok(Math.min(...extras) < EXTRA_MS, `${extras.map(Math.round)} ms more`);
    assertServiceWell(counted);
  });
}

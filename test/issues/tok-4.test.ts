import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { Rig } from "../e2e/support/rig.js";
import { send } from "../support/client.js";
import { assertServiceWell, assertUnchanged, factsOf, startCounted } from "./support/counted.js";
import { SHAPES, toText } from "./support/shapes.js";

let counted: Rig;

before(async () => {
  counted = await startCounted();
});
beforeEach(() => counted.reset());
after(() => counted.stop());

const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

for (const [name, [path, body, tokens]] of Object.entries(SHAPES)) {
  test(`TOK-4: ${name} passes unchanged, ${tokens === undefined ? "of unknown size" : "counted"}`, async () => {
    const text = toText(body);
    const answer = await send(counted.url + path, { body: text });
    assertUnchanged(counted, answer, sha256(text));
    const { promptTokens, canary } = factsOf(answer);
    if (typeof tokens === "object") assert.ok(Number(promptTokens) < tokens.below, `${promptTokens}`);
    else assert.equal(promptTokens, tokens);
    assert.equal(canary, false);
    assertServiceWell(counted);
  });
}

test("TOK-4: a multipart upload passes unchanged, of unknown size", async () => {
  const text = `--x\r\ncontent-disposition: form-data; name="file"\r\n\r\n${"\x00\xff".repeat(1000)}\r\n--x--\r\n`;
  const body = Buffer.from(text, "latin1");
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const answer = await send(`${counted.url}/v1/audio/transcriptions`, { body, headers });
  assertUnchanged(counted, answer, sha256(body));
  assert.equal(factsOf(answer).promptTokens, undefined);
});

test("TOK-4: requests without a body pass", async () => {
  for (const call of [{ method: "GET" }, { method: "POST", headers: { "content-length": "0" } }]) {
    counted.reset();
    const answer = await send(`${counted.url}/v1/models`, call);
    assertUnchanged(counted, answer, sha256(""));
  }
  assertServiceWell(counted);
});

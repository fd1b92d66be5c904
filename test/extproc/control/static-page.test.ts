import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { loadPage } from "../../../extproc/page/load-page.js";
import { ControlRig } from "../support/control.js";

const TOKEN = "0123456789abcdef0123";
const rig = new ControlRig();
let port: number;

before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-page-"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(folder, "page-ABC.js"), "export {};");
  writeFileSync(join(folder, "notes.txt"), "no part of the page");
  writeFileSync(join(folder, "tokens"), `ada:${TOKEN}\n`);
  rig.page = loadPage(folder);
  port = await rig.serve({ tokenFile: join(folder, "tokens") });
});
after(() => rig.close());

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
}

/** fetch would decide on some of these headers itself. */
function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: "127.0.0.1", port, path, method, headers }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: Buffer.concat(chunks),
      });
    });
    asking.once("error", reject).end();
  });
}

test("the page needs no token, and what it asks does", async () => {
  const page = await ask("/");
  assert.equal(page.status, 200);
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.equal((await ask("/page-ABC.js")).status, 200);
  assert.equal((await ask("/v1/backends")).status, 401);
  assert.equal((await ask("/v1/backends", { authorization: `Bearer ${TOKEN}` })).status, 200);
  assert.equal((await ask("/notes.txt", { authorization: `Bearer ${TOKEN}` })).status, 404);
  assert.equal((await ask("/", {}, "POST")).status, 415);
});

test("nothing inline, nothing from elsewhere, in nobody's frame", async () => {
  const { headers } = await ask("/");
  const policy = String(headers["content-security-policy"]);
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]) {
    assert.ok(policy.split("; ").includes(rule), rule);
  }
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["cross-origin-resource-policy"], "same-origin");
});

test("a browser that has it is told so, and gets it packed where it can unpack", async () => {
  const plain = await ask("/");
  const etag = String(plain.headers.etag);
  const again = await ask("/", { "if-none-match": etag });
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
  const packed = await ask("/", { "accept-encoding": "gzip, br" });
  assert.equal(packed.headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(packed.body), plain.body);
  for (const refused of ["gzip;q=0", "br, GZIP ; q=0.000", "x-gzip"])
    assert.equal((await ask("/", { "accept-encoding": refused })).headers["content-encoding"], undefined);
  assert.equal((await ask("/", { "accept-encoding": "gzip;q=0.5" })).headers["content-encoding"], "gzip");
  assert.equal(plain.headers["cache-control"], "no-cache");
  assert.match(String((await ask("/page-ABC.js")).headers["cache-control"]), /immutable/);
});

test("a link in a chat leads to it; a page of another site can't use it or read it", async () => {
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  assert.equal((await ask("/", link)).status, 200);
  assert.equal((await ask("/v1/backends", { ...link, authorization: `Bearer ${TOKEN}` })).status, 403);
  assert.equal((await ask("/", { ...link, "sec-fetch-mode": "cors" })).status, 403);
  assert.equal((await ask("/page-ABC.js", { "sec-fetch-site": "cross-site" })).status, 403);
  assert.equal((await ask("/", { origin: "http://example.com" })).status, 403);
});

test("without a build the address says how to make one", async () => {
  const bare = new ControlRig();
  bare.page = loadPage(join(tmpdir(), "llm-breaker-no-such-folder"));
  try {
    const answer = await fetch(`http://127.0.0.1:${await bare.serve()}/`);
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /npm run build/);
  } finally {
    bare.close();
  }
});

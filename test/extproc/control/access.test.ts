import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError } from "../../../extproc/config/errors.js";
import { checkReach } from "../../../extproc/control/credentials.js";
import { isLoopback } from "../../../extproc/control/guard.js";
import { Tokens } from "../../../extproc/control/tokens.js";
import { Authority } from "../support/certificates.js";
import { ControlRig, report } from "../support/control.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-access-"));
after(() => rmSync(folder, { recursive: true }));
const ADA = "adas-own-token-0123456789";
const BOT = "the-pipelines-token-9876";

interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly tls?: { ca: Buffer; cert?: Buffer; key?: Buffer };
}

async function ask(port: number, { method = "GET", path = "/v1/backends", headers, body, tls }: Ask) {
  const request = tls === undefined ? requestHttp : requestHttps;
  const scheme = tls === undefined ? "http" : "https";
  const outgoing = request(`${scheme}://127.0.0.1:${port}${path}`, { method, headers, agent: false, ...tls });
  outgoing.end(body);
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  let text = "";
  for await (const piece of answer) text += piece;
  return { status: answer.statusCode, headers: answer.headers, body: text };
}

async function withRig(
  settings: unknown,
  check: (rig: ControlRig, port: number) => Promise<void>,
): Promise<void> {
  const rig = new ControlRig();
  try {
    const port = await rig.serve(settings);
    rig.sync([report("gpu")]);
    await check(rig, port);
  } finally {
    rig.close();
  }
}

function tokenFile(text: string): string {
  const file = join(folder, `${Math.random()}`);
  writeFileSync(file, text);
  return file;
}

const post = (headers: Record<string, string>, body = '{"why":"a"}'): Ask => ({
  method: "POST",
  path: "/v1/backends/gpu/open",
  headers: { "content-type": "application/json", "content-length": String(body.length), ...headers },
  body,
});

test("on loopback: by an address or localhost, and by no other name, as pages of a rebound name would", async () => {
  await withRig({}, async (_, port) => {
    for (const host of [
      "127.0.0.1",
      `127.0.0.1:${port}`,
      "localhost:1",
      "[::1]:9004",
      "10.0.0.7",
      "LOCALHOST",
    ]) {
      assert.equal((await ask(port, { headers: { host } })).status, 200, host);
    }
    for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "a@127.0.0.1", "[::1"]) {
      const answer = await ask(port, { headers: { host } });
      assert.ok(answer.status === 403 || answer.status === 400, `${host} ${answer.status}`);
    }
  });
});

test("a page of another origin can neither read nor do anything, whatever it sends", async () => {
  await withRig({}, async (rig, port) => {
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${port + 1}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ] as Record<string, string>[]) {
      const read = await ask(port, { headers });
      assert.equal(read.status, 403, JSON.stringify(headers));
      assert.equal(read.headers["access-control-allow-origin"], undefined);
      assert.equal((await ask(port, post(headers))).status, 403);
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      assert.equal((await ask(port, post({ "content-type": type }))).status, 415);
    }
    const preflight = await ask(port, { method: "OPTIONS", headers: { origin: "https://evil.example" } });
    assert.equal(preflight.status, 403);
    assert.deepEqual(rig.overrides.list(), []);
    const own = { origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" };
    assert.equal((await ask(port, post(own))).status, 200);
  });
});

test("with tokens: whoever has one may, by any name of the host, and is who did it", async () => {
  const settings = { tokenFile: tokenFile(`# people\nada:${ADA}\n\n${BOT}\n`) };
  await withRig(settings, async (rig, port) => {
    for (const authorization of [
      "Bearer",
      `Bearer ${ADA}x`,
      `Bearer ${ADA.slice(1)}`,
      `Basic ${ADA}`,
      "Bearer ada",
    ]) {
      const answer = await ask(port, { headers: { authorization } });
      assert.equal(answer.status, 401, authorization);
      assert.equal(answer.headers["www-authenticate"], "Bearer");
    }
    assert.equal((await ask(port, post({}))).status, 401);
    const headers = { authorization: `Bearer ${ADA}`, host: "breaker.example" };
    assert.equal((await ask(port, { headers })).status, 200);
    const done = await ask(port, post(headers, '{"why":"a","who":"root"}'));
    assert.equal(JSON.parse(done.body).who, "ada (root)");
    await ask(port, post({ authorization: `bearer ${BOT}` }));
    assert.equal(rig.overrides.find("gpu")?.who, "token of line 4");
    assert.equal((await ask(port, { headers: { ...headers, origin: "https://evil.example" } })).status, 403);
    assert.ok(!JSON.stringify(rig.logged).includes(ADA), "tokens are never logged");
  });
});

test("a token file that changes is read anew; one that is wrong then changes nothing", async () => {
  const file = tokenFile(`ada:${ADA}\n`);
  await withRig({ tokenFile: file }, async (rig, port) => {
    const statusOf = async (token: string) =>
      (await ask(port, { headers: { authorization: `Bearer ${token}` } })).status;
    const until = async (msg: string) => {
      while (!rig.logged.some((line) => line.msg === msg))
        await new Promise((resolve) => setTimeout(resolve, 20));
    };
    writeFileSync(file, `bot:${BOT}\n`);
    await until("control credentials read anew");
    assert.deepEqual([await statusOf(ADA), await statusOf(BOT)], [401, 200]);
    writeFileSync(file, `bot:${BOT}\nshort\n`);
    await until("control credentials refused, the old ones go on");
    assert.deepEqual([await statusOf(BOT), await statusOf("short")], [200, 401]);
  });
});

test("says what is wrong with a token file, and never what stands in it", () => {
  for (const [text, rule] of [
    ["", /holds no token/],
    ["# nothing\n", /holds no token/],
    ["ada:short", /line 1 must be "name:token" with at least 16/],
    [`ada:${ADA}\nsecret token with blanks`, /line 2 must be/],
  ] as const) {
    assert.throws(
      () => Tokens.read(["control", "tokenFile"], tokenFile(text)),
      (error) => error instanceof ConfigError && rule.test(error.message) && !/secret/.test(error.message),
    );
  }
  assert.throws(
    () => Tokens.read(["control", "tokenFile"], join(folder, "none")),
    /control\.tokenFile .* no such file/,
  );
});

test("listens beyond loopback only with tokens or clients' certificates, and names both", () => {
  for (const address of ["127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"]) {
    assert.ok(isLoopback(address), address);
    checkReach(address, {});
  }
  const tls = { certFile: "a", keyFile: "b" };
  for (const address of ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "gateway.example:1", "127.0.0.1.example:1"]) {
    assert.throws(
      () => checkReach(address, {}),
      /listen\.admin .*control\.tokenFile.*control\.tls with clientCaFile/,
    );
    assert.throws(() => checkReach(address, { tls }), ConfigError, "a certificate of our own asks nobody");
    checkReach(address, { tokenFile: "a" });
    checkReach(address, { tls: { ...tls, clientCaFile: "c" } });
  }
});

test("with clients' certificates: only those of that authority may, and the name in it is who did it", async () => {
  const [ours, theirs] = [new Authority(), new Authority()];
  const { certFile, keyFile } = ours.sign("server");
  const settings = { tls: { certFile, keyFile, clientCaFile: ours.file } };
  await withRig(settings, async (rig, port) => {
    const ca = ours.certificate;
    const ada = { ca, ...ours.sign("ada") };
    assert.equal((await ask(port, { tls: ada })).status, 200);
    assert.equal((await ask(port, { ...post({}), tls: ada })).status, 200);
    assert.equal(rig.overrides.find("gpu")?.who, "ada");
    await assert.rejects(ask(port, { tls: { ca } }), "without a certificate");
    await assert.rejects(ask(port, { tls: { ca, ...theirs.sign("eve") } }), "with one of another authority");
    await assert.rejects(ask(port, {}), "without TLS");
  });
});

test("TLS with tokens needs no client certificate", async () => {
  const authority = new Authority();
  const { certFile, keyFile } = authority.sign("server");
  await withRig({ tls: { certFile, keyFile }, tokenFile: tokenFile(`ada:${ADA}`) }, async (_, port) => {
    const tls = { ca: authority.certificate };
    assert.equal((await ask(port, { tls })).status, 401);
    assert.equal((await ask(port, { tls, headers: { authorization: `Bearer ${ADA}` } })).status, 200);
  });
});

test("names the setting of a certificate that can't be read or is none", async () => {
  const [junk, empty] = [tokenFile("junk"), tokenFile("")];
  const authority = new Authority();
  const [own, other] = [authority.sign("server"), authority.sign("other")];
  const { certFile, keyFile } = own;
  for (const [tls, rule] of [
    [{ certFile: join(folder, "none"), keyFile: junk }, /control\.tls\.certFile .* no such file/],
    [{ certFile: junk, keyFile }, /control\.tls\.certFile .* holds no certificate/],
    [{ certFile, keyFile: empty }, /control\.tls\.keyFile .* holds no private key/],
    [{ certFile, keyFile: other.keyFile }, /control\.tls has files that do not fit/],
    [{ certFile, keyFile, clientCaFile: empty }, /control\.tls\.clientCaFile .* holds no certificate/],
  ] as const) {
    await assert.rejects(new ControlRig().serve({ tls }), rule);
  }
});

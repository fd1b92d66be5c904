import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Authority } from "../support/certificates.js";
import { run } from "../support/command.js";
import { ControlRig, report } from "../support/control.js";

test("says which file or address of a connection is wrong, in one line", async () => {
  const [ours, theirs] = [new Authority(), new Authority()];
  const { certFile, keyFile } = ours.sign("server");
  const [ada, eve] = [ours.sign("ada"), theirs.sign("eve")];
  const rig = new ControlRig();
  try {
    const port = await rig.serve({ tls: { certFile, keyFile, clientCaFile: ours.file } });
    rig.sync([report("gpu")]);
    const url = ["--url", `https://127.0.0.1:${port}`];
    const by = [...url, "--ca-file", ours.file];
    const shown = (signed: typeof ada) => ["--cert-file", signed.certFile, "--key-file", signed.keyFile];
    for (const [code, words, message] of [
      [1, url, /; name who signed the service's certificate by --ca-file$/],
      [1, by, /; it wants a client's certificate: give --cert-file and --key-file$/],
      [1, [...by, ...shown(eve)], /; your --cert-file must be signed by control\.tls\.clientCaFile$/],
      [2, [...by, "--cert-file", ada.certFile], /--cert-file and --key-file are needed together\n/],
      [
        2,
        [...by, ...shown({ ...ada, keyFile: eve.keyFile })],
        /can't be used: key values mismatch; they must be PEM/,
      ],
      [1, ["--url", `http://127.0.0.1:${port}`], /; with control\.tls it is --url https:/],
      [0, [...by, ...shown(ada)], /^$/],
    ] as const) {
      const ended = await run(["status", ...words]);
      assert.deepEqual(
        [ended.code, ended.err.trim().split("\n").length],
        [code, code === 2 ? 2 : 1],
        ended.err,
      );
      assert.match(ended.err.trim(), message);
    }
  } finally {
    rig.close();
  }
});

test("says what else answers or nobody does, and where a token is to be given", async () => {
  const away = await run(["status", "--url", "http://127.0.0.1:1"]);
  assert.equal(away.code, 1);
  assert.match(away.err, /:1 can't be asked: .*; is the service running, and is listen\.admin this address/);
  const other = createServer((_, response) => response.writeHead(404).end("no such page"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  try {
    const { err } = await run(["status", "--url", `http://127.0.0.1:${port}`]);
    assert.match(err, /is no control API: it answered status 404; is listen\.admin this address\?/);
    const secured = await run(["status", "--url", `https://127.0.0.1:${port}`]);
    assert.match(secured.err, /: wrong version number; no HTTPS is spoken there/);
  } finally {
    other.close();
  }
});

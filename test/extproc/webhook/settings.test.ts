import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { ConfigError } from "../../../extproc/config/errors.js";
import { startService } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { readTargets } from "../../../extproc/webhook/target.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-webhook-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const URL_GIVEN = "https://hooks.example.com/T0/s3cret";

function file(text: string): string {
  const path = join(folder, "file");
  writeFileSync(path, text);
  return path;
}

const read = (webhook: object) => readTargets(parseConfig({ webhooks: [webhook] }).webhooks);

for (const [webhook, message] of [
  [{}, "webhooks[0].url or urlFile must be given"],
  [{ url: URL_GIVEN, urlFile: "a" }, "webhooks[0].urlFile must not stand beside url"],
  [{ url: "hooks.example.com/s3cret" }, "webhooks[0].url must be a URL like https://host/path"],
  [{ url: "ftp://hooks.example.com/s3cret" }, "webhooks[0].url must be a URL like https://host/path"],
  [{ url: "https://ada:s3cret@hooks.example.com" }, "webhooks[0].url must be a URL like https://host/path"],
  [{ url: URL_GIVEN, events: ["closed"] }, "webhooks[0].events[0] must be one of open, longOpen, flapping"],
  [{ url: URL_GIVEN, events: [] }, "webhooks[0].events must name at least one event"],
  [{ url: URL_GIVEN, longOpenAfter: "2d" }, "webhooks[0].longOpenAfter must be a duration"],
  [{ url: URL_GIVEN, flapping: { openings: 1 } }, "webhooks[0].flapping.openings must be at least 2"],
  [{ url: URL_GIVEN, timeout: "1m" }, "webhooks[0].timeout must be from 100ms to 30s"],
  [
    { url: URL_GIVEN, secretFile: "/nowhere" },
    "webhooks[0].secretFile must be a file that can be read: there is no such",
  ],
  [
    { url: URL_GIVEN, secretFile: file("s3cret") },
    "webhooks[0].secretFile must hold one line with a secret of at least 24 bytes",
  ],
] as const) {
  test(`settings that are no good are told: ${message}`, () => {
    assert.throws(
      () => read(webhook),
      (thrown: Error) => {
        assert.ok(thrown instanceof ConfigError);
        assert.ok(thrown.message.includes(message), thrown.message);
        assert.ok(!thrown.message.includes("s3cret"), thrown.message);
        return true;
      },
    );
  });
}

test("what is no list at all is told without the path of the URL in it", () => {
  for (const webhooks of [URL_GIVEN, { url: URL_GIVEN }])
    assert.throws(
      () => parseConfig({ webhooks }),
      /webhooks must be a list of webhooks, got .*https:\/\/hooks\.example\.com\/…"}?$/,
    );
});

test("a URL may come from a file, and is known by its host alone", () => {
  const [target] = read({ urlFile: file(`${URL_GIVEN}\n`) });
  assert.deepEqual([target?.url, target?.label], [URL_GIVEN, "hooks.example.com"]);
});

test("a headers file is taken as a whole or refused by line, and never shown", () => {
  assert.throws(
    () => read({ url: URL_GIVEN, headersFile: file("a: b\ns3cret\n") }),
    /headersFile line 2 must be "name: value"$/,
  );
  assert.throws(
    () => read({ url: URL_GIVEN, headersFile: file("Webhook-Id: s3cret") }),
    /line 1 must not set webhook-id/,
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      try {
        for (const { headers } of read({ url: URL_GIVEN, headersFile: file(text) })) new Headers(headers);
      } catch (thrown) {
        assert.ok(thrown instanceof ConfigError);
      }
    }),
    { numRuns: 200 },
  );
});

test("a service whose webhook is wrong does not start", async () => {
  const config = parseConfig({ webhooks: [{ url: URL_GIVEN, headersFile: "/nowhere" }] });
  await assert.rejects(startService(config), /webhooks\[0\]\.headersFile must be a file that can be read/);
});

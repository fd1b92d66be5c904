import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { FREE_PORTS, ServiceProcess } from "../extproc/support/process.js";
import { findRepoRoot } from "../support/repo-root.js";
import { Haystack } from "./support/haystack.js";
import { SECRETS, SecretFiles } from "./support/secrets.js";

// Settings with a fault beside, or within, each secret; the commands on files that hold keys. What tells of the fault tells no secret.

const root = findRepoRoot();
const files = new SecretFiles();
const run = promisify(execFile);
after(() => files.remove());

const secret = SECRETS["an operator's token"];
const password = SECRETS["Redis's password"];
const hook = SECRETS["the webhook's address"];
const key = SECRETS["the members' key"];

/** What is wrong, by what is said of it. */
const broken: Readonly<Record<string, readonly [settings: object, told: RegExp]>> = {
  "a token that is too short": [
    { control: { tokenFile: files.write("a", `ada:${secret.slice(0, 8)}`) } },
    /control\.tokenFile/,
  ],
  "a line that is no token": [
    { control: { tokenFile: files.write("b", `ada:${secret}\n${secret} x`) } },
    /line 2/,
  ],
  "two tokens for gateways": [
    { sync: { tokenFile: files.write("c", `${secret} ${secret}`) } },
    /sync\.tokenFile/,
  ],
  "a token where its file should be": [
    { sync: { tokenFile: "" }, control: { tokenFile: "/none" } },
    /tokenFile/,
  ],
  "a members' key that is too short": [
    { peers: { keyFile: files.write("d", key.slice(0, 20)), redis: { url: "redis://x" } } },
    /keyFile/,
  ],
  "a Redis of another kind": [
    { limits: { redis: { url: `http://user:${password}@x` } } },
    /limits\.redis\.url/,
  ],
  "no address of a Redis": [
    { limits: { redis: { url: `redis://user:${password}@[x` } } },
    /limits\.redis\.url/,
  ],
  "no address of the members' Redis": [
    { peers: { keyFile: "x", redis: { url: `${password}` } } },
    /peers\.redis\.url/,
  ],
  "an unknown key behind a password": [
    { limits: { redis: { url: `redis://u:${password}@x`, ulr: password } } },
    /ulr/,
  ],
  "a webhook that is no address": [{ webhooks: [{ url: `ftp://x/${hook}` }] }, /webhooks/],
  "a webhook's file without an address": [
    { webhooks: [{ urlFile: files.write("e", `${hook} ${hook}`) }] },
    /urlFile/,
  ],
  "a webhook's secret that is too short": [
    {
      webhooks: [
        { url: "http://x", secretFile: files.write("f", SECRETS["the webhook's secret"].slice(0, 20)) },
      ],
    },
    /secretFile/,
  ],
  "a header that is none": [
    { webhooks: [{ url: "http://x", headersFile: files.write("g", `authorization ${secret}`) }] },
    /headersFile/,
  ],
  "a collector with a password": [{ traces: { endpoint: `http://user:${secret}@x` } }, /traces\.endpoint/],
  "a collector's header that is none": [
    { traces: { endpoint: "http://x", headersFile: files.write("h", SECRETS["the collector's key"]) } },
    /headersFile/,
  ],
  "an engine's page with a password": [
    { signals: { backends: { gpu: { metrics: `ftp://u:${secret}@x/` } } } },
    /metrics/,
  ],
};
/** The start of each secret is as telling as all of it. */
const starts = Object.fromEntries(Object.entries(SECRETS).map(([name, text]) => [name, text.slice(0, 12)]));

/** What a process has written, of which nothing may be found. */
function assertSilent(what: string, text: string): void {
  const hay = new Haystack();
  hay.add(what, text);
  assert.deepEqual(hay.find(starts), []);
}

test("settings that are refused at the start", async () => {
  await Promise.all(
    Object.entries(broken).map(async ([what, [settings, told]]) => {
      const process = new ServiceProcess(FREE_PORTS + stringify(settings));
      assert.equal(await process.exit(), 2, what);
      assert.match(process.stderr, told, what);
      assertSilent(what, process.stderr + process.lines.join("\n"));
    }),
  );
});

test("settings that are refused while the service runs", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  try {
    await service.line("started");
    for (const [what, [settings]] of Object.entries(broken)) {
      const before = service.lines.length;
      writeFileSync(service.file, FREE_PORTS + stringify(settings));
      service.child.kill("SIGHUP");
      await waitForLine(service, before, what);
    }
    assertSilent("the service's log", service.stderr + service.lines.join("\n"));
  } finally {
    service.child.kill("SIGTERM");
    await service.exit();
  }
});

/** The line that tells of what was refused, or that what has changed needs a restart. */
async function waitForLine(service: ServiceProcess, skip: number, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!service.lines.slice(skip).some((line) => /refused|restart|go on|in use/i.test(line))) {
    assert.ok(performance.now() < deadline, `${what}: ${service.lines.slice(skip).join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("check and render on files with keys in them, well and broken", async () => {
  const full = readFileSync(join(root, "envoy", "full.yaml"), "utf8");
  const inline = full.replace(
    /sds_config: \{ path_config_source: \{ path: envoy\/secrets.*/,
    `sds_config: { path_config_source: { path: x } }, generic_secret: { secret: { inline_string: "Bearer ${SECRETS["a backend's key"]}" } }`,
  );
  assert.ok(inline.includes("CANARY"));
  const service = stringify(files.settings({ webhook: 1, collector: 1, redis: 1, engine: 1 }));
  const policy = `name: chat\nbackends:\n  public: { url: "https://u:${secret}@api.example.com/v1?key=${secret}", model: m }\nchains: { chat: { tiers: [public] } }\n`;
  const texts: Readonly<Record<string, string>> = {
    "full.yaml": inline,
    "cut.yaml": inline.slice(0, inline.indexOf("CANARY") + 30),
    "odd.yaml": inline.replace("overwrite: true", "overwrite: false").replace("num_retries", "num_retires"),
    "service.yaml": service,
    "service-odd.yaml": service.replace("tokensPerMinute", "tokenPerMinute"),
    "policy.yaml": policy,
  };
  const command = join(root, "build", "js", "extproc", "cli", "main.js");
  let said = 0;
  for (const [name, text] of Object.entries(texts)) {
    const file = files.write(name, text);
    const words = name === "policy.yaml" ? ["render", file] : ["check", file];
    const { stdout, stderr } = await run(process.execPath, [command, ...words]).catch((failed) => failed);
    said += `${stdout}${stderr}`.length;
    assertSilent(`${words[0]} ${name}`, `${stdout}${stderr}`);
  }
  assert.ok(said > 500, "they had something to say");
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { NOBODY_SYNCS } from "../../../extproc/control/words.js";
import { Authority } from "../support/certificates.js";
import { run, start } from "../support/command.js";
import { ControlRig, NO_CALLS, report, transition } from "../support/control.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-cli-"));
after(() => rmSync(folder, { recursive: true }));

async function withRig(
  check: (rig: ControlRig, environment: NodeJS.ProcessEnv) => Promise<void>,
  settings: unknown = {},
): Promise<void> {
  const rig = new ControlRig();
  try {
    const port = await rig.serve(settings);
    await check(rig, { LLM_BREAKER_URL: `http://127.0.0.1:${port}` });
  } finally {
    rig.close();
  }
}

test("status is a table, the worst first, without colours in a pipe; --json is what the API answers", async () => {
  await withRig(async (rig, environment) => {
    assert.equal((await run(["status"], environment)).out, `${NOBODY_SYNCS}\n`);
    const window = { ...NO_CALLS, calls: 20, failures: 12, weightedFailures: 1200, consecutiveFailures: 5 };
    const gpu = {
      state: "OPEN",
      openings: 2,
      waitRemainingMs: 61_000,
      cause: "FAILURE_RATE",
      window,
    } as const;
    const told = { load: { kvCacheUse: 0.5, ageMs: 100 } };
    rig.sync([report("small", told), report("gpu", gpu)]);
    const fuller = report("small", { load: { kvCacheUse: 0.9, waiting: 3, ageMs: 100 } });
    rig.sync([fuller], { process: "00000000000000a2", node: "envoy-2" });
    const table = await run(["status"], environment);
    assert.equal(
      table.out,
      [
        "BACKEND  STATE   FAILED/CALLS  GATEWAYS  NOTES",
        "gpu      OPEN    12/20 (60 %)  1         FAILURE_RATE, opening 2; probe in 1 m 1 s",
        "small    CLOSED  -             2         KV cache 90 %; 3 wait",
        "",
      ].join("\n"),
    );
    assert.equal(table.code, 0);
    const one = await run(["status", "gpu"], environment);
    assert.match(one.out, /^gpu: OPEN; FAILURE_RATE, opening 2; probe in 1 m 1 s\n\nGATEWAY +POLICY/);
    assert.match(one.out, /\nenvoy-1 +demo +OPEN/);
    assert.equal(JSON.parse((await run(["status", "gpu", "--json"], environment)).out).openings, 2);
  });
});

test("open tells which chains nobody serves any more", async () => {
  await withRig(async (rig, environment) => {
    const chains = [
      { name: "chat", tiers: ["gpu", "small"] },
      { name: "batch", tiers: ["small"] },
      { name: "code", tiers: ["gpu"] },
    ];
    rig.sync([report("gpu"), report("small", { state: "OPEN" })], { chains });
    const opened = await run(["open", "gpu", "--who", "ada", "--why", "driver update"], environment);
    assert.equal(opened.code, 0);
    const [, ...lines] = opened.out.trim().split("\n");
    assert.deepEqual(
      lines.map((line) => line.split(":")[0]),
      ["chain chat has no tier left", "chain code has no tier left"],
    );
    rig.sync([report("gpu"), report("small")], { chains });
    const again = await run(["open", "gpu", "--who", "ada", "--why", "driver update"], environment);
    assert.deepEqual(
      again.out
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(":")[0]),
      ["chain code has no tier left"],
    );
  });
});

test("open, withdraw and reset do so, by the user's name, and history tells it", async () => {
  await withRig(async (rig, environment) => {
    rig.sync([report("gpu")]);
    const opened = await run(["open", "gpu", "--for", "15m", "--why", "driver update"], environment);
    assert.deepEqual([opened.code, opened.err], [0, ""]);
    const { username } = userInfo();
    assert.equal(opened.out, `gpu is FORCED OPEN for 15 m, by ${username}: driver update\n`);
    assert.match(
      (await run(["status"], environment)).out,
      new RegExp(`by ${username}, 15 m left: driver update`),
    );
    assert.equal(
      (await run(["withdraw", "gpu", "--who", "bob"], environment)).out,
      "gpu goes by its policy again\n",
    );
    assert.equal((await run(["reset", "gpu", "--why", "fixed"], environment)).out, "gpu is being reset\n");
    rig.sync([report("gpu", { generation: 2, transitions: [transition()] })]);
    const { out } = await run(["history", "--backend", "gpu", "--limit", "3"], environment);
    assert.match(
      out,
      /gpu {2}withdraw by bob\n.*reset by .*: fixed\n.*CLOSED → OPEN {2}FAILURE_RATE, waits 5 s/s,
    );
    assert.equal(out.trim().split("\n").length, 3);
    assert.equal(
      (await run(["peers"], environment)).out,
      "this service has no peers: `peers` is not configured\n",
    );
  });
});

test("says what the service refused, and ends with 1", async () => {
  await withRig(async (rig, environment) => {
    rig.sync([report("gpu")]);
    for (const [words, message] of [
      [["status", "gpuu"], "no gateway reports a backend gpuu; known: gpu"],
      [["open", "gpu", "--why", "a", "--for", "1y"], 'for must be a duration from "1s" to "7d", like "15m"'],
      [["withdraw", "gpu"], "no override holds on gpu; there are some on: none"],
    ] as const) {
      const { code, err, out } = await run(words, environment);
      assert.deepEqual([code, err, out], [1, `llm-breaker: ${message}\n`, ""]);
    }
  });
});

test("tells wrong words apart, and ends with 2", async () => {
  const file = join(folder, "none");
  for (const [words, message] of [
    [[], /a command is missing: status, open,/],
    [["statsu"], /there is no command "statsu"; there are status, open,/],
    [["open"], /open: a <backend> is missing/],
    [["open", "gpu"], /open: --why is required, like --why "driver update"/],
    [["open", "gpu", "small", "--why", "a"], /open: "small" is one word too many/],
    [["peers", "gpu"], /peers: "gpu" is one word too many/],
    [["status", "--for", "1h"], /status: has no --for/],
    [["status", "--whi"], /Unknown option '--whi'/],
    [["status", "--url", "gopher://a"], /--url must be like http/],
    [["status", "--token-file", file], /none can't be read: ENOENT/],
    [["dry-run", file], /none can't be read: ENOENT/],
  ] as [string[], RegExp][]) {
    const { code, err, out } = await run(words);
    assert.deepEqual([code, out], [2, ""], words.join(" "));
    assert.match(err, message);
  }
  const help = await run(["--help"]);
  assert.deepEqual([help.code, help.err], [0, ""]);
  assert.match(help.out, /llm-breaker open <backend>/);
});

test("watch tells transitions as they come, as lines of JSON if asked", async () => {
  const rig = new ControlRig();
  const port = await rig.serve();
  const child = start(["watch", "--json", "--backend", "gpu"], {
    LLM_BREAKER_URL: `http://127.0.0.1:${port}`,
  });
  const lines: string[] = [];
  let heard = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    lines.push(...chunk.toString().trim().split("\n"));
    heard();
  });
  const count = (wanted: number) =>
    new Promise<void>((resolve) => {
      heard = () => {
        if (lines.length >= wanted) resolve();
      };
      heard();
    });
  // It is not known when it listens: from the first event that arrives on, none may be missing.
  let generation = 1;
  const open = () => {
    generation++;
    const changes = { generation, transitions: [transition({ generation })] };
    rig.sync([report("gpu", changes), report("small", changes)]);
  };
  const timer = setInterval(open, 50);
  await count(3);
  clearInterval(timer);
  const told = lines.map((line) => JSON.parse(line));
  assert.ok(told.every(({ backend, kind }) => backend === "gpu" && kind === "transition"));
  assert.equal(told[2].generation - told[0].generation, 2);
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 0);
  rig.close();
});

test("dry-run takes a file or standard input, and shows what would have been", async () => {
  await withRig(async (rig, environment) => {
    const failing = { ...NO_CALLS, calls: 20, failures: 20, weightedFailures: 2000 };
    rig.sync([report("gpu", { seconds: [{ ...failing, ageMs: 5000 }] })]);
    const policy = JSON.stringify({
      name: "try",
      backends: { gpu: {} },
      chains: { chat: { tiers: ["gpu"] } },
    });
    const file = join(folder, "policy.json");
    writeFileSync(file, policy);
    const shown = await run(["dry-run", file, "--since", "1m"], environment);
    assert.match(shown.out, /^policy try, /);
    assert.match(shown.out, /gpu +20\/20 +0 +0 s +[1-9]/);
    assert.match(shown.out, /gpu would open: CONSECUTIVE_FAILURES, waits [56] s/);
    const piped = await run(["dry-run", "-", "--json"], environment, policy);
    assert.equal(JSON.parse(piped.out).backends[0].name, "gpu");
    const bad = await run(["dry-run", "-"], environment, "{}");
    assert.deepEqual([bad.code, /backends must name/.test(bad.err)], [1, true]);
  });
});

test("shows a token, and a certificate, to a service that wants them", async () => {
  const tokenFile = join(folder, "tokens");
  writeFileSync(tokenFile, "ada:adas-own-token-0123456789\n");
  await withRig(
    async (_, environment) => {
      assert.match((await run(["status"], environment)).err, /authorization: Bearer with a token/);
      const files = { ...environment, LLM_BREAKER_TOKEN_FILE: tokenFile };
      assert.equal((await run(["status"], files)).code, 0);
      assert.equal((await run(["status", "--token-file", tokenFile], environment)).code, 0);
    },
    { tokenFile },
  );
  const authority = new Authority();
  const server = authority.sign("server");
  const ada = authority.sign("ada");
  const tls = { certFile: server.certFile, keyFile: server.keyFile, clientCaFile: authority.file };
  await withRig(
    async (_, { LLM_BREAKER_URL: url = "" }) => {
      const words = ["--url", url.replace("http:", "https:"), "--ca-file", authority.file];
      const shown = ["--cert-file", ada.certFile, "--key-file", ada.keyFile];
      assert.equal((await run(["status", ...words, ...shown])).code, 0);
      assert.equal((await run(["status", ...words])).code, 1);
    },
    { tls },
  );
});

test("what gateways call themselves does nothing in a terminal", async () => {
  await withRig(async (rig, environment) => {
    const node = "\u001b[2J\u009b31m\u202eenvoy";
    rig.sync([report("gpu", { generation: 2, transitions: [transition()] })], { node });
    for (const words of [
      ["status", "gpu"],
      ["history"],
      ["status", "gpu", "--json"],
      ["history", "--json"],
    ]) {
      const { out, code } = await run(words, environment);
      assert.equal(code, 0);
      assert.match(out, /envoy/);
      assert.doesNotMatch(out, /[^\n\P{C}]/u, words.join(" "));
    }
    const json = JSON.parse((await run(["status", "gpu", "--json"], environment)).out);
    assert.equal(json.gateways[0].node, node, "--json keeps what the name is");
    assert.doesNotMatch((await run(["status", "\u001b[31m"], environment)).err, /[^\n\P{C}]/u);
  });
});

test("whatever answers, it ends with a message", async () => {
  const answers: readonly (readonly [string, string])[] = [
    ["text/html", "<html>hello</html>"],
    ["application/json", "{}"],
    ["application/json", "null"],
    ["application/json", '{"backends":[{"name":5}],"entries":[{}],"members":7}'],
    ["text/event-stream", "nothing"],
  ];
  for (const [type, body] of answers) {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(body);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const environment = { LLM_BREAKER_URL: `http://me:secret@127.0.0.1:${port}` };
    const commands = [["status"], ["history"], ["peers"]];
    if (type !== "text/event-stream") commands.push(["watch"]);
    for (const words of commands) {
      const { code, err } = await run(words, environment);
      assert.equal(code, 1, `${words} ${body}`);
      assert.match(err, /^llm-breaker: .* is no control API: .*\n$/);
      assert.doesNotMatch(err, /secret/);
    }
    server.close();
  }
});

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { watchFile } from "../../../extproc/config/watch.js";
import { Reload } from "../../../extproc/reload.js";
import { type Service, startService } from "../../../extproc/server.js";
import { type ConfigFile, configFile } from "../../../extproc/service-config.js";
import { waitFor } from "../../support/wait-for.js";
import { bodyMessage, headersMessage, plainMetadata, ServiceClient } from "../support/client.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
const path = join(folder, "service.yaml");
const BASE =
  'listen: {grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "127.0.0.1:0"}\nlog: {level: silent}\n';
const HEADERS = { ":method": "POST", ":path": "/v1/chat/completions" };
const BODY =
  '{"model":"qwen3-4b","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}';

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let service: Service;
let client: ServiceClient;
let reload: Reload;
/** Tokens of the request beside the picture itself. */
let around: number;

before(async () => {
  writeFileSync(path, BASE);
  const file = configFile({ LLM_BREAKER_CONFIG: path }) as ConfigFile;
  service = await startService(file.parse(BASE));
  client = new ServiceClient(service.grpcAddress);
  reload = new Reload(file, BASE, service);
  around = (await pictureTokens()) - 765;
});
after(async () => {
  client.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

async function put(text: string): Promise<void> {
  writeFileSync(path, text);
  await reload.check();
}

async function health(): Promise<[status: number, config: string | null]> {
  const response = await fetch(`http://${service.httpAddress}/healthz`);
  return [response.status, response.headers.get("x-llm-breaker-config")];
}

/** Prompt tokens of one picture: what the settings say it costs, and what stands around it. */
async function pictureTokens(): Promise<number> {
  return Number((await client.count("/v1/chat/completions", BODY)).promptTokens);
}

test("brings a changed file into use, for streams that begin from now on", async () => {
  const stream = client.open("count");
  await stream.ask(headersMessage(HEADERS));
  await put(`${BASE}tokens: {imageTokens: 1000}\n`);
  assert.equal(service.generations, 2);
  assert.equal(await pictureTokens(), 1000 + around);
  const answer = await stream.ask(bodyMessage(BODY));
  assert.equal(plainMetadata(answer).promptTokens, 765 + around, "the open one ends as it began");
  stream.call.cancel();
});

test("keeps what is in use when the file is wrong, empty or gone, and says so", async () => {
  const good = `${BASE}tokens: {imageTokens: 2000}\n`;
  await put(good);
  const tokens = await pictureTokens();
  const bad: (() => void)[] = [
    () => writeFileSync(path, `${BASE}tokens: {imageTokens: many}\n`),
    () => writeFileSync(path, "listen: ["),
    () => writeFileSync(path, ""),
    () => writeFileSync(path, `${BASE}tokenizers: [{models: [x], file: ${JSON.stringify(path)}}]\n`),
    () => rmSync(path),
  ];
  for (const spoil of bad) {
    spoil();
    await reload.check();
    assert.deepEqual(await health(), [200, "stale"]);
    assert.equal(await pictureTokens(), tokens);
  }
  await put(good);
  assert.deepEqual(await health(), [200, null]);
  assert.equal(await pictureTokens(), tokens);
});

test("loses none of 200 streams at a time while the file changes all the time", async () => {
  const until = performance.now() + 3_000;
  let changes = 0;
  let streams = 0;
  const change = async () => {
    while (performance.now() < until) await put(`${BASE}tokens: {imageTokens: ${++changes}}\n`);
  };
  const ask = async () => {
    while (performance.now() < until) {
      const stream = client.open("count");
      assert.ok((await stream.ask(headersMessage(HEADERS))).request_headers);
      const answer = await stream.ask(bodyMessage(BODY));
      assert.ok(Number(plainMetadata(answer).promptTokens) > 0);
      assert.ok(await stream.hasEnded());
      streams++;
    }
  };
  await Promise.all([change(), ...Array.from({ length: 200 }, ask)]);
  assert.ok(streams >= 200 && changes > 10, `${streams} streams, ${changes} changes`);
  assert.equal(service.generations, 1, "every older one is closed");
});

test("makes one attempt more, however many signs come while one runs", async () => {
  let attempts = 0;
  const counted = {
    log: service.log,
    setConfigStale: () => {},
    reconfigure: async () => {
      attempts++;
    },
  };
  writeFileSync(path, BASE);
  const file = configFile({ LLM_BREAKER_CONFIG: path }) as ConfigFile;
  const own = new Reload(file, "", counted);
  const first = own.check(true);
  await Promise.resolve();
  await Promise.all([first, ...Array.from({ length: 50 }, () => own.check(true))]);
  assert.ok(attempts <= 2, `${attempts} attempts`);
  await own.check();
  assert.ok(attempts <= 2, "the same file again is no change");
  await own.check(true);
  assert.ok(attempts >= 2, "but it is when it is asked for");
});

test("takes a swapped ConfigMap, a file that was gone, and what was there before the watch", async () => {
  const mount = join(folder, "mount");
  const publish = (version: number, text: string) => {
    mkdirSync(join(mount, `..${version}`), { recursive: true });
    writeFileSync(join(mount, `..${version}`, "service.yaml"), text);
    symlinkSync(`..${version}`, join(mount, "..data_tmp"));
    renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
  };
  publish(1, BASE);
  const file = configFile({ LLM_BREAKER_CONFIG: join(mount, "service.yaml") }) as ConfigFile;
  symlinkSync("..data/service.yaml", file.path);
  const mounted = new Reload(file, file.read(), service);
  const end = watchFile(file.path, () => void mounted.check(), { settleMs: 20, patienceMs: 500, pollMs: 50 });
  const waitForPicture = (tokens: number) =>
    waitFor(async () => (await pictureTokens()) === tokens, 10_000, `a picture of ${tokens} tokens`);
  try {
    publish(2, `${BASE}tokens: {imageTokens: 3000}\n`);
    await waitForPicture(3000 + around);
    rmSync(join(mount, "..data"));
    await waitFor(async () => (await health())[1] === "stale", 10_000, "a stale configuration");
    publish(3, `${BASE}tokens: {imageTokens: 4000}\n`);
    await waitForPicture(4000 + around);
    assert.deepEqual(await health(), [200, null]);
  } finally {
    end();
  }
});

/** One that differs in everything that is made anew for it. */
function settingsNumber(count: number): string {
  return `${BASE}tokens: {imageTokens: ${count}}
cache: {maxBytes: ${count}}
limits: {tokensPerMinute: ${count + 1}}
signals: {backends: {gpu: {metrics: "http://127.0.0.1:1/metrics", longQueue: ${count + 1}}}}
`;
}

test("holds no more memory, files or timers after 400 reloads than after 100", async () => {
  const handles = () => [readdirSync("/proc/self/fd").length, process.getActiveResourcesInfo().length];
  const reloadTimes = async (times: number) => {
    for (let count = 0; count < times; count++) await put(settingsNumber(count));
    for (let round = 0; round < 3; round++) {
      // What was under way for an older one ends first.
      await sleep(100);
      collectGarbage();
    }
    return process.memoryUsage().heapUsed;
  };
  const start = await reloadTimes(100);
  const [files = 0, resources = 0] = handles();
  const growth = (await reloadTimes(300)) - start;
  assert.equal(service.generations, 1);
  assert.ok(growth < 2_000_000, `${growth} bytes`);
  const [filesAfter = 0, resourcesAfter = 0] = handles();
  assert.ok(filesAfter - files < 20, `${files} → ${filesAfter} open files`);
  assert.ok(resourcesAfter - resources < 20, `${resources} → ${resourcesAfter} active resources`);
});

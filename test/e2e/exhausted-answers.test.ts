import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, chat, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { chainOf, routeOf } from "./support/shipped-config.js";

const remembers = {
  "llm.breaker.remember": { "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", config: {} },
};
const fixedText = 'We are busy: "soon".\nGrüße 🙂';

const rigs: Rig[] = [];
let cached: Rig;
let fixed: Rig;

before(async () => {
  cached = await startExhausted({ action: "cached", maxAge: "5m" });
  fixed = await startExhausted({ action: "fixed", text: fixedText });
});

after(async () => {
  for (const rig of rigs) await rig.stop();
});

/** Only gpu can answer, and only until it opens. */
async function startExhausted(exhausted: Readonly<Record<string, unknown>>): Promise<Rig> {
  const rig = await startRig({
    policy: (policy) => {
      Object.assign(policy.breaker, staysOpen);
      Object.assign(chainOf(policy), { tiers: ["gpu"], exhausted });
    },
    patch: (config) => Object.assign(routeOf(config), { typed_per_filter_config: remembers }),
  });
  rigs.push(rig);
  return rig;
}

async function open(rig: Rig): Promise<void> {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  await rig.waitForState(OPEN);
  rig.gpu.reset();
}

const alice = { authorization: "Bearer alice-secret-key" };

function ask(content: string, headers: Readonly<Record<string, string>>, stream = false): Promise<Answer> {
  return chat(cached.url, { prompt: content, headers, stream });
}

test("the last good answer is given again, as JSON or as events, to the caller who had it and to nobody else", async () => {
  const whole = await ask("what is a breaker?", alice);
  const stream = await ask("and a fuse?", alice, true);
  assert.equal(whole.status + stream.status, 400);
  // Nothing waits for the service that looks on.
  await waitFor(
    () => cached.envoy.stat("http.llm.ext_proc.streams_started").then((n) => n >= 2),
    5_000,
    "both",
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  await open(cached);

  for (const [question, first] of [
    ["what is a breaker?", whole],
    ["and a fuse?", stream],
  ] as const) {
    const json = await ask(question, alice);
    assert.equal(json.status, 200, json.text);
    assert.equal(json.headers["content-type"], "application/json");
    assert.equal(json.headers["x-llm-breaker-answer"], "cached");
    assert.equal(json.headers["x-llm-breaker-reason"], "exhausted");
    assert.match(String(json.headers.age), /^\d+$/);
    const events = await ask(question, { "x-api-key": "alice-secret-key" }, true);
    assert.equal(events.headers["content-type"], "text/event-stream");
    assert.ok(events.complete);
    const text = JSON.parse(json.text).choices[0].message.content;
    assert.ok(text.length > 0);
    assert.equal(textOf(events), text);
    assert.equal(textOf(first), text);
  }
  const others: Record<string, string>[] = [
    { authorization: "Bearer bob" },
    {},
    { "x-tenant": "alice-secret-key" },
  ];
  for (const headers of others) assertRefused(await ask("what is a breaker?", headers));
  assertRefused(await ask("what is a breaker!", alice));
  assert.equal(cached.hits[0], 0);
});

function assertRefused(answer: Answer): void {
  assert.equal(answer.status, 503);
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  assert.ok(Number(answer.headers["retry-after"]) >= 1);
  assert.equal(answer.headers["x-llm-breaker-answer"], undefined);
}

/** What a caller reads of an answer in either form. */
function textOf(answer: Answer): string {
  if (!String(answer.headers["content-type"]).startsWith("text/event-stream"))
    return JSON.parse(answer.text).choices[0].message.content;
  const events = [...answer.text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ""));
  return events.map((event) => event.choices[0]?.delta.content ?? "").join("");
}

test("a fixed answer is given in the caller's dialect and form, byte for byte", async () => {
  await open(fixed);
  const json = await chat(fixed.url);
  assert.equal(json.status, 200);
  assert.equal(json.headers["x-llm-breaker-answer"], "fixed");
  assert.equal(JSON.parse(json.text).choices[0].message.content, fixedText);
  assert.equal(Number(json.headers["content-length"]), json.body.length);
  const events = await chat(fixed.url, { stream: true });
  assert.equal(textOf(events), fixedText);
  assert.match(events.text, /data: \[DONE\]\n\n$/);
  const body = JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
  const message = await send(`${fixed.url}/v1/messages`, { body });
  assert.equal(JSON.parse(message.text).content[0].text, fixedText);
  assert.equal(fixed.hits[0], 0);
});

test("what no answer can be written for gets the JSON error", async () => {
  assertRefused(await send(`${fixed.url}/v1/embeddings`, { body: '{"input":"x"}' }));
  assertRefused(await send(`${fixed.url}/v1/chat/completions`, { body: "no json" }));
  assertRefused(await send(`${fixed.url}/v1/models`));
});

test("with the service frozen, then dead, it is the JSON error too", async () => {
  fixed.service?.signal("SIGSTOP");
  const slow = await chat(fixed.url);
  assertRefused(slow);
  assert.ok(slow.totalMs < 2_500, `after ${slow.totalMs} ms`);
  fixed.service?.signal("SIGKILL");
  await waitFor(() => fixed.service?.exit, 5_000, "the service's end");
  assertRefused(await chat(fixed.url));
});

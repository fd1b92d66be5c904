import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Fleet, startFleet } from "../../../demo/fleet/fleet.js";
import { demoBackends } from "../../../demo/fleet/settings.js";
import { answerReader, type Verdict } from "../../../demo/load/answer-reader.js";
import { DEMO_MIX, nextCall } from "../../../demo/load/mix.js";
import { startLoad } from "../../../demo/load.js";
import { poissonGapMs, seededRandom } from "../../../demo/random.js";

const TOKEN = 'data: {"choices":[{"delta":{"content":"é"},"finish_reason":null}]}\n\n';
const ROLE = 'data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n';
const FINISH = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';
const ERROR = 'data: {"error":{"message":"EngineCore encountered an issue"}}\n\n';
const DONE = "data: [DONE]\n\n";

function judge(
  text: string,
  { status = 200, type = "text/event-stream", whole = true, size = 1 } = {},
): Verdict {
  const reader = answerReader(status, type);
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) reader.read(bytes.subarray(start, start + size));
  return reader.judge(whole);
}

describe("what a caller's answer counts as", () => {
  const json = "application/json";
  const cases: [string, Verdict, Verdict][] = [
    ["a finished stream is ok, byte by byte", judge(ROLE + TOKEN + FINISH + DONE), "ok"],
    ["a stream with CRLF is ok", judge((TOKEN + FINISH + DONE).replaceAll("\n", "\r\n")), "ok"],
    ["[DONE] without a finish reason is broken", judge(TOKEN + DONE), "brokenStream"],
    ["a finish reason without [DONE] is broken", judge(TOKEN + FINISH), "brokenStream"],
    ["an error after tokens is broken", judge(TOKEN + ERROR + DONE), "brokenStream"],
    ["a reset after tokens is broken", judge(ROLE + TOKEN, { whole: false }), "brokenStream"],
    ["a reset after the role only is bare", judge(ROLE, { whole: false }), "bareFailure"],
    ["an in-band error before tokens is a JSON error", judge(ERROR + DONE), "jsonError"],
    ["an empty stream is bare", judge(DONE), "bareFailure"],
    [
      "a JSON answer with content is ok",
      judge('{"choices":[{"message":{"content":"x"}}]}', { type: json }),
      "ok",
    ],
    ["a completion is ok", judge('{"choices":[{"text":"x"}]}', { type: json }), "ok"],
    ["a JSON answer without content is bare", judge('{"choices":[]}', { type: json }), "bareFailure"],
    ["half a JSON answer is bare", judge('{"choices":[{"me', { type: json }), "bareFailure"],
    [
      "a 503 with an error is a JSON error",
      judge('{"error":{"code":1}}', { status: 503, type: json }),
      "jsonError",
    ],
    [
      "a 503 in plain text is bare",
      judge("no healthy upstream", { status: 503, type: "text/plain" }),
      "bareFailure",
    ],
    ["an empty 503 is bare", judge("", { status: 503, type: "" }), "bareFailure"],
  ];
  for (const [name, actual, expected] of cases) test(name, () => assert.equal(actual, expected));

  test("the first token is told once, on the chunk that brings it", () => {
    const reader = answerReader(200, "text/event-stream");
    assert.deepEqual(
      [ROLE, TOKEN, TOKEN].map((text) => reader.read(Buffer.from(text))),
      [false, true, false],
    );
  });
});

describe("the mix", () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 400 }, (_, index) => nextCall(random, DEMO_MIX, index));
  };

  test("is the same for the same seed and another for another", () => {
    assert.deepEqual(draw(1), draw(1));
    assert.notDeepEqual(draw(1), draw(2));
  });

  test("has short and long prompts, streamed and not, in the given shares", () => {
    const calls = draw(3);
    const share = (count: number): number => count / calls.length;
    assert.ok(Math.abs(share(calls.filter((call) => call.long).length) - 0.3) < 0.08);
    assert.ok(Math.abs(share(calls.filter((call) => call.streamed).length) - 0.6) < 0.08);
    assert.ok(calls.filter((call) => !call.long).every((call) => call.body.length < 900));
    assert.ok(calls.filter((call) => call.long).every((call) => call.body.length > 5000));
  });

  test("arrivals keep the asked rate on average", () => {
    const random = seededRandom(4);
    const total = Array.from({ length: 5000 }, () => poissonGapMs(random, 25)).reduce(
      (sum, gap) => sum + gap,
      0,
    );
    assert.ok(Math.abs(total / 5000 - 40) < 2, `mean gap ${total / 5000} ms`);
  });
});

describe("the load generator against the fleet", () => {
  let fleet: Fleet;
  before(async () => {
    const pace = {
      firstTokenMs: 1,
      prefillMsPerToken: 0,
      tokenGapMs: 0,
      jitter: 0,
      answerTokens: [4, 4],
    } as const;
    fleet = await startFleet({
      backends: demoBackends([0, 0, 0]).map((b) => ({ ...b, pace })),
      adminPort: 0,
    });
  });
  after(() => fleet.stop());

  async function run(calls: number): Promise<Record<Verdict, number>> {
    const load = startLoad({ port: fleet.backend("gpu").port, perSecond: 500, seed: 5, patienceMs: 2000 });
    while (load.started < calls) await new Promise(setImmediate);
    const counts = { ok: 0, jsonError: 0, brokenStream: 0, bareFailure: 0 };
    for (const record of await load.stop()) counts[record.verdict]++;
    assert.equal(
      Object.values(counts).reduce((sum, count) => sum + count),
      load.started,
    );
    return counts;
  }

  test("every call to a healthy backend is ok, and both sides count the same", async () => {
    const before = fleet.backend("gpu").arrivals.total;
    const counts = await run(40);
    assert.equal(counts.ok, fleet.backend("gpu").arrivals.total - before);
    assert.equal(counts.bareFailure + counts.jsonError + counts.brokenStream, 0);
  });

  test("an engine out of memory gives JSON errors, a reset gives bare failures, a cut gives broken streams", async () => {
    const { beginFault } = fleet.backend("gpu");
    const fault = beginFault.bind(fleet.backend("gpu"));
    fault({ kind: "cudaOutOfMemory", recoveryMs: 0, recovery: "engineDead" });
    const outOfMemory = await run(20);
    assert.equal(outOfMemory.ok + outOfMemory.bareFailure + outOfMemory.brokenStream, 0);
    fault({ kind: "reset" });
    const reset = await run(20);
    assert.equal(reset.ok + reset.jsonError + reset.brokenStream, 0);
    fault({ kind: "cutStream", afterEvents: 2, how: "rst" });
    const cut = await run(20);
    assert.ok(cut.brokenStream > 0);
    assert.equal(cut.jsonError + cut.bareFailure, 0);
    fleet.backend("gpu").endFault();
  });
});

import assert from "node:assert/strict";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { after, before, beforeEach, describe, test } from "node:test";
import { neverOpen, type Rig, startRig } from "../e2e/support/rig.js";
import { clusterOf, protocolOf } from "../e2e/support/shipped-config.js";
import { chat } from "../support/client.js";

const sent = 40;

interface Half {
  readonly status: number | undefined;
  readonly text: string;
  /** The answer ended as a whole one does. */
  readonly isWhole: boolean;
}

/** One streamed chat over HTTP/2, which tells a broken answer from a whole one by the stream's own end. */
function chatOverHttp2(session: ClientHttp2Session): Promise<Half> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/v1/chat/completions",
      "content-type": "application/json",
    });
    let status: number | undefined;
    let text = "";
    stream.setEncoding("utf8");
    stream.on("response", (headers) => {
      status = headers[":status"];
    });
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.on("error", () => {});
    stream.on("close", () =>
      resolve({ status, text, isWhole: stream.rstCode === constants.NGHTTP2_NO_ERROR }),
    );
    stream.end('{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}');
  });
}

for (const h2c of [false, true]) {
  describe(`OUT-3: an upstream over ${h2c ? "HTTP/2" : "HTTP/1.1"}`, () => {
    let rig: Rig;

    before(async () => {
      rig = await startRig({
        service: false,
        h2c,
        policy: neverOpen,
        patch: (config) => {
          if (!h2c) return;
          protocolOf(clusterOf(config, "gpu")).explicit_http_config = { http2_protocol_options: {} };
        },
      });
    });

    beforeEach(() => rig.reset());

    after(() => rig.stop());

    async function overHttp1(): Promise<Half> {
      const { status, text, complete } = await chat(rig.url, { stream: true });
      return { status, text, isWhole: complete };
    }

    async function overHttp2(): Promise<Half> {
      const session = connect(rig.url);
      try {
        return await chatOverHttp2(session);
      } finally {
        session.close();
      }
    }

    for (const [client, ask] of [
      ["HTTP/1.1", overHttp1],
      ["HTTP/2", overHttp2],
    ] as const) {
      for (const how of ["rst", "clean"] as const) {
        const what = how === "rst" ? "is reset" : "ends well-formed but unfinished";
        // Mutation: filter/meter/verdict.ts, "isWhole(answer) && !hasHole ? Outcome.SUCCESS : Outcome.FAILURE" -> "Outcome.SUCCESS": this test fails.
        test(`that ${what} after ${sent} of 60 chunks: a client over ${client} sees a broken stream, a failure is counted, nobody is asked again`, async () => {
          const failures = await rig.counter("gpu", "outcome.failure");
          rig.gpu.mode = { kind: "cut", at: sent, how, gapMs: 5 };
          const answer = await ask();
          assert.equal(answer.status, 200);
          assert.match(answer.text, /token0/);
          assert.doesNotMatch(answer.text, /\[DONE\]|"finish_reason":"stop"/);
          assert.equal(answer.isWhole, false, "a half must not look like a whole");
          if (how === "clean") assert.match(answer.text, new RegExp(`token${sent - 1}"`));
          await rig.waitForCounter("gpu", "outcome.failure", failures + 1);
          assert.deepEqual(rig.hits, [1, 0, 0]);
        });
      }

      test(`that ends as it should: a client over ${client} has all of it, and a success is counted`, async () => {
        const success = await rig.counter("gpu", "outcome.success");
        rig.gpu.mode = { kind: "sse", events: 60, gapMs: 2 };
        const answer = await ask();
        assert.ok(answer.isWhole);
        assert.match(answer.text, /token59"[\s\S]*\[DONE\]/);
        await rig.waitForCounter("gpu", "outcome.success", success + 1);
      });
    }
  });
}

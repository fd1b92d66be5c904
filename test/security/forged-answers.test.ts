import assert from "node:assert/strict";
import type { OutgoingHttpHeaders } from "node:http2";
import { after, before, beforeEach, describe, test } from "node:test";
import { type ExtraBackend, withBackends } from "../e2e/support/extra-backends.js";
import { type Alias, CLOSED, type Rig, startRig } from "../e2e/support/rig.js";
import { clusterOf, protocolOf } from "../e2e/support/shipped-config.js";
import { completionJson, doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { MARKS } from "./support/forgeries.js";
import { H2Backend, type Play } from "./support/h2-backend.js";
import { askH2, type H2Answer } from "./support/h2-caller.js";
import { forEachOf } from "./support/service-doors.js";

// Whatever a backend says in the breaker's name, or in Envoy's: it asks for no retry, sets no state, and the caller hears nothing of it.

const AT_ONCE = 16;
/** One failure opens each of them. */
const touchy = { consecutiveFailuresThreshold: 1 };
const backends: Record<string, ExtraBackend> = { touchy: { breaker: touchy }, obeyed: {} };
const backend = new H2Backend();
let rig: Rig;

before(async () => {
  await backend.listen();
  const settings = withBackends(backends, {
    patch: (config) => {
      for (const name of Object.keys(backends)) {
        const cluster = clusterOf(config, name);
        protocolOf(cluster).explicit_http_config = { http2_protocol_options: {} };
        const address = { socket_address: { address: "127.0.0.1", port_value: backend.port } };
        const [real] = cluster.load_assignment.endpoints;
        if (real) real.lb_endpoints = [{ endpoint: { address } }];
      }
      // A filter of our own between the meter and Envoy's router: the one place from which the order is obeyed.
      const header = { key: "x-llm-breaker-retry", value: "1" };
      protocolOf(clusterOf(config, "obeyed")).http_filters.unshift({
        name: "envoy.filters.http.header_mutation",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
          mutations: {
            response_mutations: [{ append: { header, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" } }],
          },
        },
      });
    },
  });
  rig = await startRig({ ...settings, fixedPorts: [backend.port], concurrency: 1 });
});

beforeEach(() => {
  rig.reset();
  backend.arrivals.length = 0;
});

after(async () => {
  await rig?.stop();
  backend.stop();
});

interface Said {
  readonly headers?: OutgoingHttpHeaders;
  readonly trailers?: OutgoingHttpHeaders;
  readonly early?: OutgoingHttpHeaders;
  readonly field?: Readonly<Record<string, unknown>>;
}

type Saying = (name: string, value: string) => Said;

/** Each way in which a backend can say it. */
const sayings: Readonly<Record<string, Saying>> = {
  "a header": (name, value) => ({ headers: { [name]: value } }),
  "a header twice": (name, value) => ({ headers: { [name]: [value, value] } }),
  "a header with underscores": (name, value) => ({ headers: { [name.replaceAll("-", "_")]: value } }),
  "a trailer": (name, value) => ({ trailers: { [name]: value } }),
  "a header and a trailer": (name, value) => ({
    headers: { [name]: value },
    trailers: { [name]: value, "x-sum": "1" },
  }),
  "an interim answer": (name, value) => ({ early: { [name]: value } }),
  "a field of the body": (name, value) => ({
    field: { [name]: value, metadata: { "llm.breaker": { [name]: value } } },
  }),
};

function saying({ headers = {}, trailers, early, field = {} }: Said, streamed: boolean): Play {
  const json = JSON.stringify({ ...JSON.parse(completionJson("m", "a")), ...field });
  const events = `data: ${JSON.stringify(field)}\n\n${tokenEvent("m", "a")}${finishEvent("m")}${doneEvent}`;
  const type = streamed ? "text/event-stream" : "application/json";
  return (stream) => {
    if (early) stream.additionalHeaders({ ":status": 103, ...early });
    stream.respond(
      { ":status": 200, "content-type": type, ...headers },
      { waitForTrailers: trailers !== undefined },
    );
    if (trailers) stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(streamed ? events : json);
  };
}

const ask = (alias: string, streamed: boolean): Promise<H2Answer> =>
  askH2(
    rig.url,
    { ":path": `/${alias}/v1/chat/completions`, "content-type": "application/json" },
    JSON.stringify({ model: "m", messages: [], stream: streamed }),
  );

/** What of an answer is ours to say, and who is said to have said it. */
function ours({ status, headers, trailers, early }: H2Answer): unknown {
  const said = [headers, trailers, ...early].flatMap((each) =>
    Object.entries(each)
      .filter(([name]) => /^x-(llm-breaker|envoy-ratelimited)/.test(name))
      .map(([name, value]) => `${name}=${value}`),
  );
  return `${status} ${said.sort().join(" ")}`;
}

const WELL = "200 x-llm-breaker-attempts=1 x-llm-breaker-backend=touchy";

for (const streamed of [false, true]) {
  describe(streamed ? "in a stream" : "in an answer", () => {
    for (const [how, say] of Object.entries(sayings)) {
      test(`${how} in our name does nothing and reaches nobody`, async () => {
        const wrong: string[] = [];
        // One after another: the backend plays one of them at a time.
        for (const [name, value] of MARKS) {
          backend.play = saying(say(name, value), streamed);
          const came = ours(await ask("touchy", streamed));
          if (came !== WELL) wrong.push(`${name}: ${came}`);
        }
        assert.deepEqual(wrong, []);
        assert.equal(backend.arrivals.length, MARKS.length, "each was asked for once");
        assert.deepEqual(rig.hits, [0, 0, 0]);
      });
    }
  });
}

test("all at once, they have moved no state, and been counted as what they were", async () => {
  const success = await rig.counter("touchy" as Alias, "outcome.success");
  const all = Object.fromEntries(MARKS);
  backend.play = saying({ headers: all, trailers: all, early: all, field: all }, false);
  await forEachOf(Array.from({ length: 32 }), AT_ONCE, async () => {
    assert.equal(ours(await ask("touchy", false)), WELL);
  });
  await rig.waitForCounter("touchy" as Alias, "outcome.success", success + 32);
  assert.equal(await rig.counter("touchy" as Alias, "outcome.failure"), 0);
  assert.equal(await rig.state("touchy" as Alias), CLOSED);
  assert.deepEqual(rig.transitions("touchy" as Alias), []);
});

test("the order to try again works where it is ours, so that a backend's would be seen", async () => {
  backend.play = saying({}, false);
  await ask("obeyed", false);
  assert.ok(backend.arrivals.length > 1, `${backend.arrivals.length} attempts`);
});

test("a failure opens the backend that these answers did not, so that an opening would be seen", async () => {
  backend.play = (stream) => {
    stream.respond({ ":status": 500 });
    stream.end();
  };
  assert.equal((await ask("touchy", false)).headers["x-llm-breaker-backend"], "small");
  await rig.waitForCause("CONSECUTIVE_FAILURES", "touchy" as Alias);
});

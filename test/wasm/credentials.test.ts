import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import fc from "fast-check";
import { AttemptedRequest } from "./attempt.js";
import { type Header, HeaderMap } from "./host/header-map.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { Worker } from "./worker.js";

const tiers = ["gpu", "small", "public"] as const;
const secrets = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "x-goog-user-project",
  "ocp-apim-subscription-key",
  "x-amz-security-token",
  "x-auth-token",
  "cookie",
  "openai-organization",
  "openai-project",
];

let worker: Worker;

beforeEach(() => {
  worker = new Worker(new World(), policyWith(neverOpens));
});

const value = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((byte) => String.fromCharCode(byte)),
});
/** Cookies may come in several headers; any other is one by the time the gate sees it, or its copies are the same to it. */
const callersKeys = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(...secrets),
    value.map((text) => `CALLERS-${text}`),
  ),
  { selector: ([name]) => name, maxLength: 8 },
);
/** What each backend's own filters put into the request: under a name that callers use, too, or another. */
const injected = fc.option(
  fc.constantFrom(...secrets.filter((name) => name !== "cookie"), "x-provider-key"),
  {
    nil: undefined,
  },
);
const attempt = fc.record({ isOwn: fc.boolean(), injected });
const plan = fc.tuple(attempt, attempt, attempt);
const query = value.map((text) => `?key=CALLERS-${encodeURIComponent(text)}`);

function textOf(headers: HeaderMap): string {
  return headers.entries.map(([name, text]) => `${name}: ${text}`).join("\n");
}

function keysOf(headers: HeaderMap): Header[] {
  return headers.entries.filter(([name]) => secrets.includes(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test("a caller's key never reaches a backend with its own, nor one backend's key another, whatever was tried before", () => {
  fc.assert(
    fc.property(callersKeys, query, plan, (given, callersQuery, attempts) => {
      const path = `/v1/chat/completions${callersQuery}`;
      const request = new AttemptedRequest(worker, "{}", { ...Object.fromEntries(given), ":path": path });
      for (const [index, { isOwn, injected: name }] of attempts.entries()) {
        const backend = tiers[index] ?? "gpu";
        const meter = request.start({ backend, ...(isOwn && { credentials: "own" }) });
        const text = textOf(request.headers);
        if (isOwn) assert.doesNotMatch(text, /CALLERS/);
        else {
          assert.deepEqual(keysOf(request.headers), keysOf(new HeaderMap(given)));
          assert.equal(request.headers.get(":path"), path);
        }
        assert.doesNotMatch(text, /KEY-OF-/, "another backend's key");
        // Only a backend that says that it has keys of its own may get one.
        if (isOwn && name !== undefined) request.headers.set(name, `KEY-OF-${backend}`);
        meter.responseHeaders(new HeaderMap({ ":status": "500" }), true);
        meter.endUpstream();
      }
      request.end();
    }),
    { numRuns: 1000 },
  );
});

// Orders of operators, or of whoever reaches the control API.
import assert from "node:assert/strict";
import { createApp } from "../../../extproc/control/app.js";
import { DryRun } from "../../../extproc/control/dry-run.js";
import { EventFeed } from "../../../extproc/control/event-feed.js";
import { ControlRig, report } from "../../extproc/support/control.js";
import { toBuffers } from "../support/plain-session.js";
import { sizeClass } from "../support/told.js";
import type { Target } from "../target.js";

const PATHS = [
  "/v1/backends/gpu/open",
  "/v1/backends/gpu/close",
  "/v1/backends/gpu/disable",
  "/v1/backends/gpu/reset",
  "/v1/backends/nobody/open",
];
const MAX_LOGGED = 200;

export const serviceControl: Target = {
  name: "service-control",
  parsers: ["app", "guard", "routes", "schemas", "words", "overrides"].map(
    (name) => `extproc/control/${name}.ts`,
  ),
  seeds: toBuffers([
    '{"for":"30m","why":"driver update"}',
    '{"for":"1h","why":"x","who":"anna"}',
    '{"why":"reset","who":"bob"}',
    "{}",
  ]),
  words: ['"for":', '"why":', '"who":', '"1ms"', '"25h"', '"30m"', "\\u0000", "\\u202e"],
  maxBytes: 400,
  caseMs: 200,
  oneCaseFor: 10,
  // The server reads no more than 64 KiB.
  linearBytes: 0,
  open: () => {
    const rig = new ControlRig();
    rig.sync([report("gpu"), report("small")]);
    const { parts, history, log } = rig;
    const app = createApp({
      ...parts,
      feed: new EventFeed(history),
      dryRun: new DryRun(parts.fleet, history),
      page: [],
      log,
      tokens: () => undefined,
      hasClientCertificates: false,
    });
    return {
      run: async (bytes, random) => {
        const path = random.pick(PATHS);
        const headers = {
          host: "127.0.0.1:9004",
          "content-type": "application/json",
          "content-length": String(bytes.length),
        };
        const answer = await app.request(path, { method: "POST", headers, body: new Uint8Array(bytes) });
        if (answer.status >= 500)
          assert.fail(`status ${answer.status}: ${JSON.stringify(rig.logged.at(-1))}`);
        if (rig.logged.length > MAX_LOGGED) rig.logged.length = 0;
        const text = await answer.text();
        assert.ok(text.length < 2000 + bytes.length, "an answer without a bound");
        JSON.parse(text);
        return answer.status === 400
          ? text.slice(0, 60)
          : `${answer.status},${sizeClass(text.length)},${path}`;
      },
      close: () => rig.close(),
    };
  },
};

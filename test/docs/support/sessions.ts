import assert from "node:assert/strict";
import { theirEnvoy } from "../../e2e/support/their-envoy.js";
import { fencesIn, textOf } from "./markdown.js";

/** Documents that one reader goes through, in a clone and a shell of their own. */
export interface Session {
  readonly documents: readonly string[];
  /** Files that such a reader has. */
  readonly files?: () => Readonly<Record<string, string>>;
  /** What such a reader has done before. */
  readonly prepare?: readonly string[];
  /** What some of the commands write, in the documents' order; all are to end well. */
  readonly writes?: readonly (readonly [command: string, output: RegExp])[];
}

/** The policy of full.yaml, whole and alone. */
const policyJson = `node -e '
  const { parse } = require("yaml");
  const text = require("fs").readFileSync("envoy/full.yaml", "utf8");
  const gate = JSON.stringify(parse(text, { merge: true, maxAliasCount: -1 })).match(/"root_id":"gate".*?"value":("\\{.*?[^\\\\]")/)[1];
  require("fs").writeFileSync("policy.json", JSON.parse(gate));
'`;

/** The first policy.yaml of a document. */
function policyIn(document: string): string {
  const policy = fencesIn(textOf(document)).find(({ text }) => /^chains:/m.test(text) && /^name:/.test(text));
  assert.ok(policy, `${document} has no policy`);
  return policy.text;
}

/** None of them is listened on: the file is only read. */
const THEIR_PORTS = { admin: 9901, clients: 10000, vllm: 8000, spare: 8001 };

const servers = [
  "node build/js/demo/fleet/main.js &",
  "LLM_BREAKER_CONFIG=envoy/service.yaml npm start &",
  ".cache/envoy/1.40.0/envoy -c envoy/full.yaml --concurrency 2 &",
];

export const SESSIONS: readonly Session[] = [
  {
    documents: ["docs/getting-started.md"],
    writes: [
      ["chat", /^200 gpu *$/m],
      ["npx llm-breaker status", /gpu +CLOSED/],
      ["chat", /^200 small gpu=500/m],
      ["npx llm-breaker status gpu", /OPEN.*OUT_OF_MEMORY/],
      ["npx llm-breaker history", /gpu +HALF_OPEN → CLOSED +RAMP_COMPLETE/],
      ["chat", /^200 gpu *$/m],
    ],
  },
  {
    documents: ["README.md", "docs/upgrade.md", "docs/operations.md"],
    files: () => ({ "policy.yaml": policyIn("README.md"), "envoy.yaml": theirEnvoy(THEIR_PORTS) }),
    prepare: [...servers, policyJson],
    writes: [["npx llm-breaker status", /gpu +CLOSED/]],
  },
  {
    documents: ["docs/install.md", "docs/check.md", "docs/mesh.md"],
    prepare: [
      "cp envoy/minimal.yaml envoy.yaml && cp envoy/service.yaml service.yaml && mkdir istio",
      "npx llm-breaker render envoy/kubernetes/policy.yaml --target istio --istio-version 1.30 -o istio/llm-breaker.yaml",
    ],
  },
];

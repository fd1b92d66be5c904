import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { CliError } from "../../extproc/cli-error.js";
import { readPolicy } from "../../extproc/render/policy-file.js";
import { istioTarget } from "../../extproc/render/targets/istio/target.js";

function objects(kind: string, backends: string) {
  const plan = readPolicy(`backends: { ${backends} }\nchains: { chat: { tiers: [a, b] } }`, "policy.yaml");
  return parseAllDocuments(istioTarget.write(plan, {}).text)
    .map((document) => document.toJS())
    .filter((object) => object?.kind === kind);
}

test("deployments of one server share its entry", () => {
  const entries = objects("ServiceEntry", "a: { url: https://x.example/a }, b: { url: https://x.example/b }");
  assert.equal(entries.length, 1);
  const [two] = objects("ServiceEntry", "a: { url: http://x.example:81 }, b: { url: http://x.example:82 }");
  assert.deepEqual(
    two.spec.ports.map(({ number }: { number: number }) => number),
    [81, 82],
  );
});

test("what one entry can't say of a host is refused, rather than sent to another port", () => {
  for (const other of ["https://x.example:8443", "http://x.example"]) {
    const backends = `a: { url: https://x.example }, b: { url: ${other} }`;
    assert.throws(
      () => objects("ServiceEntry", backends),
      (error) =>
        error instanceof CliError && /backends\.b and backends\.a are at x\.example/.test(error.message),
    );
  }
});

test("TLS that nobody would begin is refused, rather than sent in the clear", () => {
  assert.throws(
    () => objects("ServiceEntry", "a: { url: https://vllm.llm.svc:8443 }, b: { url: http://x.example }"),
    /backends\.a: TLS to a Service .* give cluster: "vllm\.llm\.svc\.cluster\.local:8443"/,
  );
});

test("certificates are those of the server's own name or address, by the authorities that are given", () => {
  const [name, address] = objects(
    "DestinationRule",
    "a: { url: https://x.example, caFile: /etc/ours.pem }, b: { url: https://10.0.0.9 }",
  ).map(({ spec }) => spec.trafficPolicy.portLevelSettings[0].tls);
  assert.deepEqual(name, {
    mode: "SIMPLE",
    caCertificates: "/etc/ours.pem",
    sni: "x.example",
    subjectAltNames: ["x.example"],
  });
  assert.deepEqual(address, { mode: "SIMPLE", subjectAltNames: ["10.0.0.9"] });
});

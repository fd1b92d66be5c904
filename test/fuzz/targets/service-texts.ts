// Texts that come whole or as pages: headers, metrics, metadata.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listCodings } from "../../../extproc/body/coding.js";
import { callerOf } from "../../../extproc/callers/caller.js";
import { ConfigError } from "../../../extproc/config/errors.js";
import { parseHeaders } from "../../../extproc/config/headers-file.js";
import { HeaderCollector } from "../../../extproc/request-headers.js";
import { readMetadataText } from "../../../extproc/rewrite/metadata-text.js";
import { readRules } from "../../../extproc/rewrite/rules.js";
import { METRIC_NAMES } from "../../../extproc/signals/engine-metrics.js";
import { PageScanner } from "../../../extproc/signals/page-scanner.js";
import { readTraceParent } from "../../../extproc/traces/trace-parent.js";
import { findRepoRoot } from "../../support/repo-root.js";
import { cutAnywhere } from "../support/pieces.js";
import { sessionOf, toBuffers, unlessDeclared } from "../support/plain-session.js";
import { sizeClass } from "../support/told.js";
import type { Target } from "../target.js";

const PAGES = join(findRepoRoot(), "test", "extproc", "signals", "pages");

/** The lines of real pages that tell of load, and a few around them. */
function pageSeeds(): Buffer[] {
  return readdirSync(PAGES).map((name) => {
    const lines = readFileSync(join(PAGES, name), "utf8").split("\n");
    const told = lines.filter((line) => METRIC_NAMES.some((metric) => line.startsWith(metric)));
    return Buffer.from(`${[...lines.slice(0, 4), ...told].join("\n").slice(0, 1500)}\n`);
  });
}

export const serviceMetrics: Target = {
  name: "service-metrics-page",
  parsers: [
    "extproc/signals/page-scanner.ts",
    "extproc/signals/sample-line.ts",
    "extproc/signals/engine-metrics.ts",
  ],
  seeds: pageSeeds(),
  words: [...METRIC_NAMES, " 1\n", "{", '="', '",', "} ", " NaN\n", " +Inf\n", "# HELP ", ' # {a="b"} 1'],
  open: sessionOf((bytes, random) => {
    const whole = figuresOf([bytes]);
    assert.equal(figuresOf(cutAnywhere(bytes, random)), whole, "cut otherwise it tells something else");
    assert.ok(!/-\d|null/.test(whole.replaceAll(/e-\d+/g, "")), `an odd figure: ${whole}`);
    return whole === "{}"
      ? ""
      : whole.replaceAll(/\d[\d.e+-]*/g, (number) => String(sizeClass(Number(number))));
  }),
};

function figuresOf(pieces: readonly Buffer[]): string {
  const scanner = new PageScanner();
  for (const piece of pieces) scanner.feed(piece);
  return JSON.stringify(scanner.end());
}

const CALLER_HEADERS = { headers: ["authorization", "x-api-key"] } as never;

export const serviceHeaders: Target = {
  name: "service-headers",
  parsers: [
    "extproc/traces/trace-parent.ts",
    "extproc/callers/caller.ts",
    "extproc/request-headers.ts",
    "extproc/body/coding.ts",
  ],
  seeds: toBuffers([
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what-the-future-will-be-like",
    "Bearer sk-1234",
    "gzip, br",
    "identity;q=1,  zstd",
  ]),
  words: ["-", "00", "ff", "Bearer ", "bearer\t", ",", "gzip", "0".repeat(16)],
  maxBytes: 300,
  open: sessionOf((bytes) => {
    const text = bytes.toString("utf8");
    const parent = readTraceParent(text);
    if (parent !== undefined) {
      assert.match(parent.traceId, /^(?!0{32})[0-9a-f]{32}$/);
      assert.match(parent.spanId, /^(?!0{16})[0-9a-f]{16}$/);
    }
    const collector = new HeaderCollector();
    collector.add("authorization", text);
    const caller = callerOf(collector.values, CALLER_HEADERS);
    assert.ok(caller === undefined || /^[\w-]{43}$/.test(caller), "a caller's name tells his key");
    const twice = new HeaderCollector();
    for (const name of ["authorization", "Authorization"]) twice.add(name.toLowerCase(), text);
    if (text.trim() !== "")
      assert.equal(callerOf(twice.values, CALLER_HEADERS), undefined, "two keys are one caller");
    const codings = listCodings(text);
    assert.ok(codings.every((coding) => coding !== "" && coding === coding.trim()));
    return `${parent?.isSampled},${caller === undefined},${sizeClass(codings.length)}`;
  }),
};

export const serviceMetadata: Target = {
  name: "service-metadata-text",
  parsers: ["extproc/rewrite/metadata-text.ts", "extproc/rewrite/rules.ts"],
  seeds: toBuffers([
    'filter_metadata {\n  key: "llm.breaker"\n  value {\n    fields {\n      key: "model"\n      value {\n        string_value: "gpt-\\303\\251"\n      }\n    }\n    fields {\n      key: "maxOutputTokens"\n      value { number_value: 1000 }\n    }\n  }\n}\n',
    'filter_metadata { key: "llm.breaker" value { fields { key: "remove" value { string_value: "user,tools" } } fields { key: "rename" value { string_value: "a:b" } } } }',
    'filter_metadata <key: "other" value <fields <key: "includeUsage" value <bool_value: true>>>>',
  ]),
  words: [
    '"',
    '\\"',
    "\\303",
    "\\x41",
    "{",
    "}",
    'key: "',
    "string_value: ",
    "fields {",
    "filter_metadata {",
  ],
  // Envoy prints it, from what an operator wrote.
  linearBytes: 0,
  open: sessionOf((bytes) => {
    const text = bytes.toString("utf8");
    const values = readMetadataText(text, "llm.breaker");
    const size = [...values].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
    assert.ok(size <= text.length * 2, "more than there is");
    const { usual, problems } = readRules(values);
    return values.size === 0
      ? ""
      : `${[...values.keys()].join().slice(0, 60)},${problems.length},${usual.remove.size}`;
  }),
};

export const serviceHeadersFile: Target = {
  name: "service-headers-file",
  parsers: ["extproc/config/headers-file.ts"],
  seeds: toBuffers(["authorization: Bearer a\n# comment\nx-team: b\r\n", "webhook-id: 1\n", ": no\n"]),
  words: [":", ": ", "\r\n", "\n", "#", "webhook-id: x", "\t"],
  maxBytes: 400,
  open: sessionOf((bytes) => {
    const text = bytes.toString("utf8");
    const headers = unlessDeclared(() => parseHeaders(text, ["headersFile"], /^webhook-/), ConfigError);
    if (headers === undefined) return "";
    // What undici would refuse.
    new Headers(headers);
    const names = Object.keys(headers);
    assert.ok(!names.some((name) => name.startsWith("webhook-")), "ours was set");
    return names.join().slice(0, 40);
  }),
};

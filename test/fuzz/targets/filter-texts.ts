// What the filter reads in one piece: messages of errors, headers, model names, paths, patterns of operators.
import assert from "node:assert/strict";
import { ANSWERS, MESSAGES } from "../corpus/answers.js";
import { FilterParsers } from "../support/filter-parsers.js";
import { cutAnywhere } from "../support/pieces.js";
import type { Random } from "../support/random.js";
import { sizeClass } from "../support/told.js";
import type { Session, Target, Told } from "../target.js";

/** A session of the filter's parsers, by what it does with a case. */
function withParsers(run: (parsers: FilterParsers, bytes: Buffer, random: Random) => Told): () => Session {
  return () => {
    const parsers = new FilterParsers();
    return {
      run: (bytes, random) => run(parsers, bytes, random),
      memoryBytes: () => parsers.byteLength,
    };
  };
}

const toBuffers = (texts: readonly string[]) => texts.map((text) => Buffer.from(text));

const KINDS = 4;
const NOT_CONTEXT = 0xff;

export const filterErrors: Target = {
  name: "filter-errors",
  parsers: ["filter/bytes/engine-error.ts", "filter/bytes/engine-texts.ts", "filter/bytes/error-kind.ts"],
  seeds: toBuffers([...MESSAGES, ...ANSWERS]),
  words: [
    ..."Error Exception : . [ ] ' RuntimeError EngineDeadError Async MQ Ray Worker proc CUDA".split(" "),
    " died unexpectedly",
    "Internal server error: ",
    "Server error",
    "torch.",
    " does not exist",
    " tokens",
  ],
  maxBytes: 600,
  open: withParsers((parsers, bytes) => {
    const told = parsers.ask("classes", bytes);
    const [engine = 99, kind = 99, word = 99] = [told & 0xff, (told >> 8) & 0xff, told >>> 16];
    assert.ok(engine <= KINDS && kind <= KINDS && (word <= KINDS || word === NOT_CONTEXT), `class ${told}`);
    assert.equal(parsers.ask("classes", bytes), told, "asked again it is another class");
    return told === 0 ? "" : String(told);
  }),
};

const METRIC_NAMES = [
  "kv_cache_usage_perc",
  "gpu_cache_usage_perc",
  "kv_cache_utilization",
  "num_requests_waiting",
];

export const filterLoad: Target = {
  name: "filter-load-header",
  parsers: ["filter/bytes/load-metrics.ts"],
  seeds: toBuffers([
    "TEXT named_metrics.kv_cache_usage_perc=0.4, named_metrics.num_requests_waiting=3.0",
    'JSON {"named_metrics":{"kv_cache_usage_perc":0.4,"num_requests_waiting":3.0}}',
    "text gpu_cache_usage_perc=1e-3,waiting=12345678901234567890",
    "BIN CgQIARAC",
  ]),
  words: [...METRIC_NAMES, "waiting", "=", ":", ",", "TEXT ", "JSON ", "0.5", "1e-5", "named_metrics."],
  maxBytes: 600,
  open: withParsers((parsers, bytes, random) => {
    const kv = parsers.ask("loadMetrics", bytes);
    const waiting = parsers.call.loadWaiting?.() ?? 0;
    assert.ok(kv >= 0 && kv <= 1001 && waiting >= 0 && waiting <= 1_000_001, `${kv} ${waiting}`);
    if (random.oneIn(4)) judgeOwnHeader(parsers, random);
    return kv + waiting === 0 ? "" : `${sizeClass(kv)},${sizeClass(waiting)}`;
  }),
};

function judgeOwnHeader(parsers: FilterParsers, random: Random): void {
  const share = random.next(1001);
  const queue = random.next(10_000);
  const name = METRIC_NAMES[random.next(3)];
  const value = random.pick([
    String(share / 1000),
    (share / 1000).toExponential(),
    `${(share / 1000).toFixed(6)}`,
  ]);
  const pairs = [`${name}=${value}`, `num_requests_waiting=${queue}`];
  const text = `TEXT ${(random.oneIn(2) ? pairs : pairs.reverse()).join(random.pick([",", ", ", " , "]))}`;
  assert.equal(parsers.ask("loadMetrics", Buffer.from(text)), share + 1, text);
  assert.equal(parsers.call.loadWaiting?.(), queue + 1, text);
}

export const filterGlob: Target = {
  name: "filter-glob",
  parsers: ["filter/bytes/glob.ts"],
  seeds: toBuffers(["gpt-*\0gpt-4o", "*\0", "a*b*c\0aXbYbZc", "llama\0llama", "**a\0ba"]),
  words: ["*", "**", "\0", "a", "ab", "aab"],
  maxBytes: 160,
  // O(pattern × text): a pattern is an operator's, a model's name has 128 bytes.
  linearBytes: 0,
  open: withParsers((parsers, bytes) => {
    const at = bytes.indexOf(0);
    if (at < 0) return "";
    const pattern = bytes.subarray(0, at);
    const text = bytes.subarray(at + 1);
    const ptr = parsers.put(bytes);
    const fits = parsers.call.fits?.(ptr, pattern.length, ptr + at + 1, text.length);
    assert.equal(fits === 1, fitsPlainly(pattern, text), "it fits otherwise");
    return `${fits},${sizeClass(pattern.length)},${sizeClass(text.length)}`;
  }),
};

/** By a table of what each prefix of the text fits. */
function fitsPlainly(pattern: Buffer, text: Buffer): boolean {
  let fits = [true, ...new Array<boolean>(text.length).fill(false)];
  for (const byte of pattern) {
    const isStar = byte === 0x2a;
    const next = [isStar && fits[0] === true];
    for (let at = 0; at < text.length; at++) {
      const here = isStar
        ? fits[at + 1] === true || next[at] === true
        : text[at] === byte && fits[at] === true;
      next.push(here);
    }
    fits = next;
  }
  return fits[text.length] === true;
}

const SEARCHED = 4096;

export const filterRules: Target = {
  name: "filter-body-rules",
  parsers: ["filter/bytes/body-rules.ts", "filter/bytes/scan.ts"],
  seeds: toBuffers([
    "error\0aab\0out of memory\0\0aaaaab: out of memory",
    "aaaa\0aaab\0\0aaaaaaab",
    "é\0\0{}é",
  ]),
  words: ["\0", "\0\0", "a", "aa", "aab", "error"],
  maxBytes: 6000,
  open: withParsers((parsers, bytes, random) => {
    const divider = bytes.indexOf("\0\0");
    if (divider <= 0) return "";
    const texts = bytes.toString("utf8", 0, divider).split("\0");
    parsers.ask("setRules", Buffer.from(texts.join("\0")));
    const body = bytes.subarray(divider + 2);
    parsers.call.rulesReset?.();
    let matched = -1;
    for (const piece of cutAnywhere(body, random)) matched = parsers.ask("rulesFeed", piece);
    const seen = body.subarray(0, SEARCHED);
    const expected = texts.slice(0, 8).findIndex((text) => {
      const size = Buffer.byteLength(text);
      return size > 0 && size <= 64 && seen.includes(text);
    });
    assert.equal(matched, expected, "another rule is found");
    parsers.call.collect?.();
    return `${matched},${texts.length},${sizeClass(body.length)}`;
  }),
};

export const filterPath: Target = {
  name: "filter-path",
  parsers: ["filter/bytes/request-path.ts"],
  seeds: toBuffers([
    "/v1/chat/completions?key=a",
    "/v1",
    "/",
    "?a",
    "/v1/models?",
    "/openai/deployments/x/chat",
  ]),
  words: ["/v1", "?", "/", "//", "#", "%3f"],
  maxBytes: 300,
  open: withParsers((parsers, bytes, random) => {
    const parts = random.pick(["", "/x?api=1", "/base/", "?q=1", "/v1"]);
    const lengths = [0, 1, 2].map(() => random.next(parts.length + 2) - 1);
    const all = Buffer.concat([Buffer.from(parts.repeat(3)), bytes]);
    const ptr = parsers.put(all);
    const head = all.length - bytes.length;
    const dropsQuery = random.oneIn(2);
    const written =
      parsers.call.composePath?.(ptr + head, bytes.length, ...lengths, dropsQuery ? 1 : 0, ptr) ?? -1;
    assert.ok(written > 0, "longer than announced, or nothing");
    const path = parsers.room(written).toString("latin1");
    const isAsked = lengths.some((length) => length >= 0);
    if (!isAsked && !dropsQuery)
      assert.equal(
        path.replace(/^\/(?=\?|$)/, ""),
        bytes.toString("latin1").replace(/^\/(?=\?|$)/, ""),
        "nothing was asked for",
      );
    const secret = bytes.includes("?") ? bytes.subarray(bytes.indexOf("?")).toString("latin1") : "";
    if (!isAsked && dropsQuery && secret !== "") assert.ok(!path.includes("?"), "the query goes on");
    return `${sizeClass(written)},${lengths.map((length) => length < 0).join()},${dropsQuery}`;
  }),
};

export const filterJsonText: Target = {
  name: "filter-json-text",
  parsers: ["filter/bytes/json-text.ts"],
  seeds: [
    ...toBuffers(["a", "é大🙂", '"\\\n\0\x7f']),
    Buffer.from("c080eda0bdf0908080f4908080c2e282", "hex"),
  ],
  maxBytes: 300,
  open: withParsers((parsers, bytes) => {
    const written = parsers.ask("jsonText", bytes);
    assert.ok(written <= bytes.length * 6, "longer than announced");
    const out = parsers.room(written);
    const text = out.toString("utf8");
    assert.deepEqual(Buffer.from(text), out, "it is no UTF-8");
    const value = JSON.parse(`"${text}"`) as string;
    const given = bytes.toString("utf8");
    if (Buffer.from(given).equals(bytes)) assert.equal(value, given, "another text");
    else assert.equal(value.replaceAll("\ufffd", ""), given.replaceAll("\ufffd", ""), "characters are lost");
    return `${sizeClass(written)},${value === given}`;
  }),
};

export const filterPairs: Target = {
  name: "filter-pairs",
  parsers: ["filter/host/headers.ts"],
  seeds: [
    [
      ["a", "b"],
      [":status", "200"],
    ],
    [["backend", "gpu"]],
    [],
  ].map(marshal),
  maxBytes: 300,
  open: withParsers((parsers, bytes) => {
    const sum = parsers.ask("walkPairs", bytes);
    assert.ok(sum <= bytes.length, "more than there is");
    return sum === 0 ? "" : String(sizeClass(sum));
  }),
};

function marshal(pairs: readonly string[][]): Buffer {
  const head = Buffer.alloc(4 + pairs.length * 8);
  head.writeUInt32LE(pairs.length);
  for (const [index, text] of pairs.flat().entries()) head.writeUInt32LE(text.length, 4 + index * 4);
  return Buffer.concat([
    head,
    Buffer.from(
      pairs
        .flat()
        .map((text) => `${text}\0`)
        .join(""),
    ),
  ]);
}

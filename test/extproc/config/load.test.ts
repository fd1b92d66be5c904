import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { ConfigError } from "../../../extproc/config/errors.js";
import { count, duration, text, url } from "../../../extproc/config/fields.js";
import { SettingsFile } from "../../../extproc/config/load.js";

const classes = z.record(
  z.string().regex(/^[a-z]+$/, "must be a name in lower case"),
  z.strictObject({ rate: count(1) }),
);
const SCHEMA = z.strictObject({
  level: z.enum(["info", "warn"]).default("info"),
  wait: duration.prefault("1s"),
  limits: z.strictObject({ tokensPerMinute: count(1), classes: classes.default({}) }).optional(),
  redis: url("redis").optional(),
  files: z
    .array(
      z.strictObject({
        file: text,
        template: z.union([z.enum(["plain"]), z.strictObject({ file: text })]).optional(),
      }),
    )
    .default([]),
});

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
after(() => rmSync(folder, { recursive: true }));

function fileOf(content: string | Buffer): SettingsFile<typeof SCHEMA> {
  const path = join(folder, "service.yaml");
  writeFileSync(path, content);
  return new SettingsFile(SCHEMA, path, "THE_VARIABLE");
}

function load(content: string | Buffer): z.output<typeof SCHEMA> {
  const file = fileOf(content);
  return file.parse(file.read());
}

/** The problems of a file that is refused, without the folder's name. */
function problemsOf(content: string | Buffer): string[] {
  let message = "";
  assert.throws(
    () => load(content),
    (cause) => {
      assert.ok(cause instanceof ConfigError);
      message = cause.message;
      return true;
    },
  );
  assert.ok(!message.includes("\n"), "one line");
  assert.ok(message.startsWith("EXTPROC config: "));
  return message.slice("EXTPROC config: ".length).replaceAll(`${folder}/`, "").split("; ");
}

test("names every wrong field with its line and column", () => {
  const yaml = [
    "# comment",
    "level: loud",
    "wait: 10",
    "limits:",
    '  tokensPerMinute: "x"',
    "  classes:",
    "    vip: {rate: 0, colour: red}",
    "    VIP: {rate: 1}",
    "speling: 1",
    "files:",
    "  - file: a",
    "    template: {fiel: b}",
    "  - template: plain",
    "  - file: 3",
    "    template: chatml",
  ];
  assert.deepEqual(problemsOf(yaml.join("\n")), [
    'service.yaml:2:8 level must be one of info, warn, got "loud"',
    'service.yaml:3:7 wait must be a duration like "150ms" or "10s", got 10',
    'service.yaml:5:20 limits.tokensPerMinute must be a whole number, got "x"',
    "service.yaml:7:17 limits.classes.vip.rate must be at least 1, got 0",
    "service.yaml:7:20 limits.classes.vip.colour is unknown, remove it or check its spelling",
    "service.yaml:8:5 limits.classes.VIP must be a name in lower case",
    "service.yaml:12:15 files[0].template.file must be a text, got nothing",
    "service.yaml:12:16 files[0].template.fiel is unknown, remove it or check its spelling",
    "service.yaml:13:5 files[1].file must be a text, got nothing",
    "service.yaml:14:11 files[2].file must be a text, got 3",
    'service.yaml:15:15 files[2].template must be one of plain or a map of settings, got "chatml"',
    "service.yaml:9:1 speling is unknown, remove it or check its spelling",
  ]);
});

test("points at the key of an empty value, at the list of a wrong element, at the file as a whole", () => {
  assert.deepEqual(problemsOf("\nlimits:\nlevel: info"), [
    "service.yaml:2:1 limits must be a map of settings, got null",
  ]);
  assert.deepEqual(problemsOf("files: [1]"), ["service.yaml:1:9 files[0] must be a map of settings, got 1"]);
  assert.deepEqual(problemsOf("- a"), ['service.yaml:1:1 the file must be a map of settings, got ["a"]']);
  assert.deepEqual(problemsOf("level"), ['service.yaml:1:1 the file must be a map of settings, got "level"']);
});

test("says where YAML itself is broken", () => {
  const cases: [string, RegExp][] = [
    ["level: [\n", /^service\.yaml:2:1 must be valid YAML: /],
    ["limits:\n\ttokensPerMinute: 1", /^service\.yaml:2:1 must be valid YAML: Tabs are not allowed/],
    ["level: info\nwait: 1s\nlevel: warn", /^service\.yaml:3:1 must be valid YAML: Map keys must be unique/],
    ['limits: {\n  a: 1, "a": 2}', /^service\.yaml:2:9 must be valid YAML: Map keys must be unique/],
    ["limits:\n  ? 1\n  ? 1", /^service\.yaml:3:5 must be valid YAML: Map keys must be unique/],
    ["level: info\n---\nlevel: info", /^service\.yaml:2:1 must be valid YAML: it must hold one document/],
    ["level: *nobody", /^service\.yaml:1:8 must be valid YAML: \*nobody names no anchor before it/],
    ["level: !!python/object x", /^service\.yaml:1:8 must be valid YAML: Unresolved tag/],
    ["level: 'info", /^service\.yaml:1:13 must be valid YAML: Missing closing 'quote/],
  ];
  for (const [yaml, expected] of cases) assert.match(problemsOf(yaml).join("; "), expected, yaml);
});

test("takes anchors, and points at what they stand for", () => {
  const yaml = "limits:\n  tokensPerMinute: 5\n  classes:\n    vip: &fast {rate: 9}\n    gold: *fast\n";
  assert.deepEqual(load(yaml).limits?.classes, { vip: { rate: 9 }, gold: { rate: 9 } });
  assert.deepEqual(problemsOf(yaml.replace("9", "0")), [
    "service.yaml:4:23 limits.classes.vip.rate must be at least 1, got 0",
    "service.yaml:4:23 limits.classes.gold.rate must be at least 1, got 0",
  ]);
});

test("refuses bombs and circles in words", () => {
  const bomb = Array.from({ length: 12 }, (_, level) => {
    const names =
      level === 0
        ? "x"
        : Array(9)
            .fill(`*a${level - 1}`)
            .join(", ");
    return `a${level}: &a${level} [${names}]`;
  });
  assert.match(problemsOf(bomb.join("\n")).join(), /must be valid YAML: Excessive alias count/);
  assert.match(problemsOf("files: &a [*a]").join(), /files\[0\] must be a map of settings/);
  for (const [start, end] of [
    ["[", "]"],
    ["- ", ""],
    ["? ", ""],
    ["{a: ", "}"],
  ] as const) {
    for (const depth of [200, 3000, 40_000]) {
      const yaml = `level:\n  ${start.repeat(depth)}x${end.repeat(depth)}`;
      assert.deepEqual(problemsOf(yaml), ["service.yaml must be valid YAML: it is nested too deeply"]);
    }
  }
});

test("refuses in no time what is as large as a file may be", () => {
  const texts = {
    "a long value": `level: "${"a".repeat(260_000)}"`,
    "a long value of backslashes": `level: '${"\\".repeat(260_000)}'`,
    "many aliases": `level: &a [1]\nfiles: [${"*a,".repeat(80_000)}]`,
    "many anchors": Array.from({ length: 20_000 }, (_, index) => `k${index}: &x [*x]`).join("\n"),
    "many unknown names": Array.from({ length: 5000 }, (_, index) => `k${index}: 1`).join("\n"),
  };
  for (const [name, yaml] of Object.entries(texts)) {
    const startedAt = performance.now();
    assert.ok(problemsOf(yaml).length > 0, name);
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < 3000, `${name} takes ${Math.round(tookMs)} ms`);
  }
  const stars = `level: "*"\nfiles: # ${"*a ".repeat(2000)}\n${"  - {models: '*a', path: x}\n".repeat(3)}`;
  assert.ok(!problemsOf(stars).join().includes("aliases"));
});

test("reads an empty file, comments alone and a byte order mark", () => {
  for (const yaml of ["", "\n", "# nothing\n", "---\n", "\uFEFF", "{}"]) {
    assert.equal(load(yaml).wait, 1000, JSON.stringify(yaml));
  }
  assert.equal(load("\uFEFFlevel: warn\r\nwait: 2s\r\n").wait, 2000);
  assert.deepEqual(problemsOf("\uFEFFlevel: loud"), [
    'service.yaml:1:8 level must be one of info, warn, got "loud"',
  ]);
});

test("says why a file can't be read", () => {
  const messageFor = (path: string) => {
    try {
      new SettingsFile(SCHEMA, path, "THE_VARIABLE").read();
    } catch (cause) {
      assert.ok(cause instanceof ConfigError);
      return cause.message;
    }
    throw new Error("was read");
  };
  const missing = join(folder, "nobody.yaml");
  assert.equal(
    messageFor(missing),
    `EXTPROC config: THE_VARIABLE must name a readable YAML file (unset it for the defaults), got ${JSON.stringify(missing)}: there is no such file`,
  );
  mkdirSync(join(folder, "folder.yaml"));
  assert.match(messageFor(join(folder, "folder.yaml")), /: it is a folder$/);
  symlinkSync("circle", join(folder, "circle"));
  assert.match(messageFor(join(folder, "circle")), /: its symbolic links go in circles$/);
  assert.match(messageFor("/dev/null"), /: it is no regular file$/);
  const large = join(folder, "large.yaml");
  writeFileSync(large, "#".repeat(1_000_000));
  assert.match(messageFor(large), /: it is larger than 262144 bytes$/);
  writeFileSync(large, Buffer.from("level: info", "utf16le").fill(0xff, 0, 1));
  assert.match(messageFor(large), /: it is no UTF-8 text$/);
});

test("says that a file may not be read", (context) => {
  const path = join(folder, "secret.yaml");
  writeFileSync(path, "", { mode: 0o000 });
  // Root may read everything, so it becomes somebody else for the moment.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  context.after(() => isRoot && process.seteuid?.(0));
  assert.throws(() => new SettingsFile(SCHEMA, path, "V").read(), /: it may not be read by this user$/);
});

test("shows what was given in short, and no password", () => {
  const [problem = ""] = problemsOf('redis: "http://user:hunter2@host"');
  assert.equal(problem, 'service.yaml:1:8 redis must be a URL like redis://host:port, got "***@host"');
  for (const password of ["pa/ss", 'pa\\"ss', "pass@pass", "pa ss"]) {
    assert.ok(!problemsOf(`redis: "http://:${password}@host"`).join().includes("ss"), password);
  }
  assert.ok((problemsOf(`level: ${"x".repeat(5000)}`)[0] ?? "").length < 200);
  assert.match(
    problemsOf(Array.from({ length: 80 }, (_, i) => `k${i}: 1`).join("\n")).at(-1) ?? "",
    /^and 30 more$/,
  );
});

test("pollutes no prototype", () => {
  assert.match(problemsOf("__proto__: {polluted: 1}").join(), /__proto__ is unknown/);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("answers any text with settings or with a ConfigError", () => {
  const pieces = fc.constantFrom(
    "level",
    "limits",
    ":",
    " ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&a",
    "*a",
    "'",
    '"',
    "|",
    "#",
    "? ",
    "!x",
    "\t",
    "1",
    "~",
    "<<",
    "%",
    "@",
    "\uFEFF",
    "é",
    "\0",
  );
  const anyText = fc.oneof(
    fc.array(pieces, { maxLength: 40 }).map((list) => list.join("")),
    fc.string({ unit: "binary" }),
  );
  const file = new SettingsFile(SCHEMA, "service.yaml", "V");
  fc.assert(
    fc.property(anyText, (content) => {
      try {
        file.parse(content);
      } catch (cause) {
        assert.ok(cause instanceof ConfigError, String(cause));
        for (const { position } of cause.problems) assert.ok(position === undefined || position.line >= 1);
      }
    }),
    { numRuns: 500 },
  );
});

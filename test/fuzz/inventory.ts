// What must have a target, and what need not, with the reason.

/** Each file in these reads foreign bytes, or stands below. */
export const PARSING_FOLDERS: readonly string[] = [
  "filter/bytes",
  "extproc/body",
  "extproc/check/setup",
  "extproc/check/tree",
  "extproc/dialects",
  "extproc/dialects/anthropic",
  "extproc/policy-schema",
  "extproc/wire",
];

/** How bytes become values: a file that does it anywhere in the service reads some, or stands below. */
export const READS = /JSON\.parse\(|new Reader\(|\.readUInt|parseDocument\(|new Lexer\(/;

export const EXCUSED: Readonly<Record<string, string>> = {
  "extproc/body/json-bytes.ts": "constants",
  "extproc/body/large-prompt.ts": "sizes of what was read",
  "extproc/body/reader-worker.ts": "a thread around facts.ts",
  "extproc/body/reader.ts": "a thread around facts.ts",
  "extproc/body/text-size.ts": "sizes of what was read",
  "extproc/check/setup/setup.ts": "holds what was read",
  "extproc/cli/client.ts": "the control API's answers, which an operator's command asked for",
  "extproc/cli/plain.ts": "its own text",
  "extproc/cli/version.ts": "package.json",
  "extproc/cli/watch.ts": "the control API's answers, which an operator's command asked for",
  "extproc/control/dry-run.ts": "its own build",
  "extproc/dialects/answer-editor.ts": "types",
  "extproc/dialects/anthropic/form.ts": "types",
  "extproc/dialects/anthropic/large-request.ts": "a thread around request.ts",
  "extproc/dialects/anthropic/request-worker.ts": "a thread around request.ts",
  "extproc/dialects/anthropic/text-in.ts": "one value of what was read",
  "extproc/dialects/anthropic/translate.ts": "chooses between answer.ts, errors.ts and stream.ts",
  "extproc/dialects/dialect.ts": "types",
  "extproc/dialects/dialects.ts": "a list",
  "extproc/dialects/untranslatable.ts": "an error",
  "extproc/policy-schema/table.ts": "writes documentation",
  "extproc/render/into/into.ts": "JSON of its own",
  "extproc/render/parts/filters.ts": "JSON of its own",
  "extproc/render/policy-text.ts": "JSON of its own",
  "extproc/telemetry/gateway-metrics.ts": "keys of its own",
  "extproc/tokens/prompt-counter.ts": "JSON of its own",
  "extproc/tokens/vocabulary.ts": "the operator's vocabulary, by the tokenizers' own library",
  "extproc/webhook/facts.ts": "keys of its own",
  "extproc/wire/processing-response.ts": "writes",
  "extproc/wire/struct.ts": "writes",
  "extproc/wire/sync-response.ts": "writes",
  "extproc/wire/writer.ts": "writes",
  "filter/bytes/proto-writer.ts": "writes",
};

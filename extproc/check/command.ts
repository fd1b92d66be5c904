import { readFileSync } from "node:fs";
import { coloursFor } from "../cli/colours.js";
import { plainText } from "../cli/plain.js";
import { CliError } from "../cli-error.js";
import { readText } from "../config/text.js";
import { parseCheck, USAGE } from "./arguments.js";
import { checkFiles } from "./check.js";
import { toJson, toText } from "./report.js";
import type { CheckedFile } from "./setup/read.js";

/** YAML of more is no file of a person's. */
const MAX_BYTES = 4_194_304;
const MAX_FILES = 500;

/** Looks at files and says what is wrong in them; nothing is sent anywhere. */
export async function check(words: readonly string[]): Promise<number> {
  const command = parseCheck(words);
  if (command === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (command.files.length > MAX_FILES) throw new CliError(2, `check takes at most ${MAX_FILES} files`);
  const files = command.files.map(read);
  const policy = command.policy === undefined ? undefined : read(command.policy);
  const report = checkFiles(files, { envoy: command.envoy, istio: command.istio, policy });
  const text = command.isJson ? toJson(report) : toText(report, coloursFor(process.stdout, process.env));
  process.stdout.write(`${text}\n`);
  for (const { name } of files.filter(isPolicyFile))
    process.stderr.write(
      `${plainText(name)} is what \`llm-breaker render\` reads; what is wrong in it, that command says\n`,
    );
  const isBad = report.findings.some(({ level }) => level === "error" || command.isStrict);
  return isBad ? 1 : 0;
}

/** Not Envoy's, but the lines that Envoy's are made from. */
function isPolicyFile({ text }: CheckedFile): boolean {
  return /^backends:/m.test(text) && /^chains:/m.test(text);
}

function read(name: string): CheckedFile {
  try {
    return {
      name: name === "-" ? "stdin" : name,
      text: name === "-" ? readStandardInput() : readText(name, MAX_BYTES),
    };
  } catch (cause) {
    throw new CliError(
      2,
      `${name} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function readStandardInput(): string {
  const text = readFileSync(0, "utf8");
  if (text.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  return text.replace(/^\uFEFF/, "");
}

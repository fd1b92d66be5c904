import { writeFileSync } from "node:fs";
import { CliError } from "../cli-error.js";
import { readText } from "../config/text.js";

/** @throws CliError when it can't be read. */
export function textOf(file: string): string {
  try {
    return readText(file);
  } catch (cause) {
    throw new CliError(1, `${file} can't be read: ${reasonOf(cause)}`, { cause });
  }
}

/** "-" is standard output. @throws CliError when it can't be written. */
export function writeOut(file: string, text: string): void {
  if (file === "-") {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new CliError(1, `${file} can't be written: ${reasonOf(cause)}`, { cause });
  }
}

/** What is told of a file can't break a line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

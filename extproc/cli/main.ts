#!/usr/bin/env node
import { CliError } from "../cli-error.js";
import { parseCommand, USAGE } from "./arguments.js";
import { ControlClient } from "./client.js";
import { coloursFor } from "./colours.js";
import { runOnce } from "./commands.js";
import { localCommand } from "./local.js";
import { plainText } from "./plain.js";
import { watch } from "./watch.js";

async function main(words: readonly string[]): Promise<void> {
  const local = localCommand(words[0]);
  if (local !== undefined) {
    process.exitCode = await local(words.slice(1));
    return;
  }
  const command = parseCommand(words);
  if (command === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const client = ControlClient.of(command, process.env);
  const colours = coloursFor(process.stdout, process.env);
  const write = (text: string) => void process.stdout.write(`${text}\n`);
  if (command.name === "watch") await watch(command, client, colours, write);
  else write(await runOnce(command, client, colours));
}

// Whoever reads has enough, as `| head` does.
process.stdout.on("error", () => process.exit(0));
process.on("SIGINT", () => process.exit(0));
try {
  await main(process.argv.slice(2));
} catch (cause) {
  if (!(cause instanceof CliError)) throw cause;
  const help = cause.exitCode === 2 ? "\nllm-breaker --help tells what there is." : "";
  process.stderr.write(`llm-breaker: ${plainText(cause.message)}${help}\n`);
  process.exitCode = cause.exitCode;
}

import { CliError } from "../cli-error.js";

export async function check(_words: readonly string[]): Promise<number> {
  throw new CliError(1, "check is not built yet");
}

import { CliError } from "../cli-error.js";

export async function render(_words: readonly string[]): Promise<number> {
  throw new CliError(1, "render is not built yet");
}

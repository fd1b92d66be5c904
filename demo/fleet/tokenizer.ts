import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "tokenizers";
import { contentText, promptText } from "./prompt.js";
import type { ChatBody, CountPromptTokens } from "./settings.js";

/**
 * Counts as Qwen3's engine does: the chat template rendered with its marks, all of it encoded at once. It shares the
 * vocabulary with the service under test but not its counting, so that one can be checked by the other.
 * Loading blocks for about a second.
 */
export function loadPromptCounter(repoRoot: string): CountPromptTokens {
  const file = join(repoRoot, "extproc", "tokens", "vocab", "qwen3.json.gz");
  const tokenizer = Tokenizer.fromString(gunzipSync(readFileSync(file)).toString("utf8"));
  return async (body) =>
    (await tokenizer.encode(render(body), null, { addSpecialTokens: false })).getLength();
}

function render(body: ChatBody): string {
  if (body.messages === undefined) return promptText(body);
  const turns = body.messages.map(
    ({ role, content }) => `<|im_start|>${role}\n${contentText(content)}<|im_end|>\n`,
  );
  return `${turns.join("")}<|im_start|>assistant\n`;
}

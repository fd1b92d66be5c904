import { join } from "node:path";
import type { Chat } from "../body/chat.js";
import { findRepoRoot } from "../root.js";
import { renderOpenAi } from "./openai.js";
import { renderPlain } from "./plain.js";
import type { SourceFile } from "./protocol.js";

/** A prompt as pieces of text. */
export interface Rendered {
  /** Each is tokenized on its own. */
  segments: string[];
  /** Tokens that are no text: documented flat costs. */
  overheadTokens: number;
  /** False when the rule says nothing of such a chat. */
  isExact: boolean;
}

/** How a chat becomes text: by a rule of ours, or by the model's own Jinja template. */
export type Template =
  | { readonly kind: "rule"; readonly render: (chat: Chat) => Rendered }
  | { readonly kind: "file"; readonly source: SourceFile };

/** `chatml` is Qwen3's. */
export function templateNamed(name: string): Template {
  if (name === "openai") return { kind: "rule", render: renderOpenAi };
  if (name === "plain") return { kind: "rule", render: renderPlain };
  return { kind: "file", source: shippedFile(`${name === "chatml" ? "qwen3" : name}.template.json`) };
}

const FOLDER = join(findRepoRoot(), "extproc", "tokens", "vocab");

export function shippedFile(name: string): SourceFile {
  return { file: join(FOLDER, name), version: "shipped" };
}

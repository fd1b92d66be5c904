import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GgufMetadata, readGgufMetadata } from "./gguf.js";

/** llama.cpp's numbers for special tokens and for added words. */
const CONTROL = 3;
const USER_DEFINED = 4;

/** The files that an operator of SmolLM2 has, made from what its GGUF file says: an own tokenizer and template. */
export function writeTokenizerFiles(
  ggufFile: string,
  folder: string,
): { file: string; templateFile: string } {
  const metadata = readGgufMetadata(ggufFile);
  const file = join(folder, "tokenizer.json");
  const templateFile = join(folder, "tokenizer_config.json");
  writeFileSync(file, JSON.stringify(toTokenizer(metadata)));
  const template = metadata.get("tokenizer.chat_template");
  writeFileSync(templateFile, JSON.stringify({ chat_template: template }));
  return { file, templateFile };
}

function toTokenizer(metadata: GgufMetadata): unknown {
  const tokens = listOf<string>(metadata, "tokenizer.ggml.tokens");
  const types = listOf<number>(metadata, "tokenizer.ggml.token_type");
  const added = tokens.flatMap((content, id) => {
    const special = types[id] === CONTROL;
    if (!special && types[id] !== USER_DEFINED) return [];
    return [{ id, content, special, lstrip: false, rstrip: false, single_word: false, normalized: false }];
  });
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    // What llama.cpp calls the pre-tokenizer "smollm".
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [{ type: "Digits", individual_digits: true }, byteLevel],
    },
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: listOf<string>(metadata, "tokenizer.ggml.merges"),
    },
  };
}

function listOf<T>(metadata: GgufMetadata, key: string): readonly T[] {
  const list = metadata.get(key);
  if (!Array.isArray(list)) throw new Error(`the model has no ${key}`);
  return list as T[];
}

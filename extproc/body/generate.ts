import type { Media } from "./chat.js";
import { readTexts } from "./completion.js";
import { isRecord, type JsonRecord } from "./json.js";
import { readOutputAsk } from "./output-ask.js";
import type { Reading } from "./prompt.js";

/**
 * The engines' own generate endpoints by the field that holds the prompt: TGI's `inputs`, vLLM's `prompt`, SGLang's
 * `text` or `input_ids`, Triton's `text_input`. One of them has to be there, and no other.
 */
const PROMPTS = ["inputs", "prompt", "text", "input_ids", "text_input"] as const;

/** Pictures and sounds beside the prompt; a list holds several. */
const IMAGES = ["image_data", "video_data", "image_input", "image"];
const AUDIO = ["audio_data"];

/** Tensors in the prompt's place, and Triton's sampling parameters as a text of JSON: nothing is concluded from them. */
const OPAQUE = ["input_embeds", "prompt_embeds", "sampling_parameters", "multi_modal_data"];

/** Where limits and numbers of answers may stand besides the top level; SGLang takes a list for several prompts. */
const PARAMETERS = ["parameters", "sampling_params"];
const MAX_SOURCES = 256;

/** A picture in TGI's prompts; its bytes are no text. */
const TGI_IMAGE = /!\[[^\]]{0,100}\]\((?:data:image\/|https?:)[^)\s]*\)/g;

export function readGenerate(body: JsonRecord, media: Media): Reading | undefined {
  const given = PROMPTS.filter((name) => (body[name] ?? null) !== null);
  const name = given[0];
  if (name === undefined || given.length > 1) return undefined;
  if (OPAQUE.some((key) => (body[key] ?? null) !== null)) return undefined;
  const prompt = name === "inputs" ? withoutImages(body[name], media) : body[name];
  const completion = readTexts(prompt);
  const sources = [body, ...PARAMETERS.flatMap((key) => body[key] ?? [])];
  if (completion === undefined || sources.length > MAX_SOURCES || !sources.every(isRecord)) return undefined;
  media.images += countMedia(body, IMAGES);
  media.audio += countMedia(body, AUDIO);
  const output = readOutputAsk(sources, completion.prompts);
  return { prompt: { kind: "completion", completion }, output };
}

function withoutImages(inputs: unknown, media: Media): unknown {
  if (typeof inputs !== "string") return inputs;
  return inputs.replace(TGI_IMAGE, () => {
    media.images++;
    return "";
  });
}

function countMedia(body: JsonRecord, names: readonly string[]): number {
  const given = names.map((name) => body[name] ?? []);
  return given.reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 1), 0);
}

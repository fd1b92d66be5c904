import type { Chat } from "../body/chat.js";
import { toPythonJson } from "../body/json.js";
import { ChatTemplate } from "./chat-template.js";
import { piecesOf } from "./pieces.js";
import { renderPlain } from "./plain.js";
import type { CountAsk, CountReply, SourceFile } from "./protocol.js";
import { readTemplateFile } from "./template-file.js";
import type { LoadedVocabulary } from "./vocabulary.js";

/** Chats of more messages, tools and calls are counted without a template, which takes some 50 µs for each. */
const MAX_PIECES = 500;

/** A template with the marks of both its file and the vocabulary's. */
interface MarkedTemplate {
  readonly plainWords: readonly string[];
  readonly version: string;
  readonly template: ChatTemplate;
  readonly marks: LoadedVocabulary["marks"];
}

/** Counts prompts with one vocabulary and any number of chat templates, each compiled when it is first asked for. */
export class PromptCounter {
  private readonly templates = new Map<string, MarkedTemplate>();

  constructor(private readonly vocabulary: LoadedVocabulary) {}

  async count(ask: CountAsk): Promise<CountReply> {
    if (ask.kind === "chat") return this.countChat(ask.chat, ask.template);
    const { texts, withMarks } = ask;
    const tokens = await this.vocabulary.count(texts, withMarks);
    return { tokens, isExact: !texts.some((text) => this.vocabulary.marks.areImitatedBy(text)) };
  }

  private async countChat(chat: Chat, source: SourceFile): Promise<CountReply> {
    const { template, marks, plainWords } = this.templateOf(source);
    const json = JSON.stringify(chat);
    const isImitating = marks.areImitatedBy(json);
    const guarded = isImitating ? (JSON.parse(marks.guard(json)) as Chat) : chat;
    const rendered = piecesOf(chat) <= MAX_PIECES ? attempt(template, guarded, json.length) : undefined;
    if (rendered === undefined) return this.countPlain(chat);
    const { segments: pieces, count } = marks.cut(rendered.text);
    const segments = pieces.flatMap((piece) => splitWords(piece, plainWords));
    const { leftOut } = rendered;
    // Some servers put it into the prompt, others only into the sampler.
    if (chat.responseSchema !== undefined) segments.push(toPythonJson(chat.responseSchema));
    if (leftOut.tools) segments.push(...chat.tools.map(toPythonJson));
    if (leftOut.calls) segments.push(toPythonJson(chat.messages.flatMap(({ toolCalls }) => toolCalls)));
    const isWhole =
      !leftOut.tools && !leftOut.calls && !rendered.hasCallIds && ChatTemplate.knowsRolesOf(chat);
    const tokens = count + (await this.vocabulary.count(segments, false));
    return {
      tokens,
      isExact: isWhole && !isImitating && !chat.isCustom && chat.responseSchema === undefined,
    };
  }

  private async countPlain(chat: Chat): Promise<CountReply> {
    const { segments, overheadTokens } = renderPlain(chat);
    return { tokens: overheadTokens + (await this.vocabulary.count(segments, false)), isExact: false };
  }

  private templateOf({ file, version }: SourceFile): MarkedTemplate {
    const known = this.templates.get(file);
    if (known?.version === version) return known;
    const read = readTemplateFile(file);
    const marks = this.vocabulary.marks.with(read.marks);
    const fresh = { version, template: new ChatTemplate(read), marks, plainWords: read.plainWords };
    this.templates.set(file, fresh);
    return fresh;
  }
}

function attempt(template: ChatTemplate, chat: Chat, length: number) {
  try {
    return template.render(chat, length);
  } catch {
    return undefined;
  }
}

/** Cut behind their first letters, where every tokenizer begins a new piece, the words are not seen as one token. */
function splitWords(text: string, words: readonly string[]): string[] {
  let pieces = [text];
  for (const word of words) {
    const [head = ""] = /^\W*[a-z]+/.exec(word) ?? [];
    const tail = word.slice(head.length);
    pieces = pieces.flatMap((piece) => {
      const parts = piece.split(word);
      return parts.map((part, at) => (at > 0 ? tail : "") + part + (at < parts.length - 1 ? head : ""));
    });
  }
  return pieces;
}

import type { Template } from "@huggingface/jinja";
import { type Chat, type ChatMessage, plainChat, type ToolCall } from "../body/chat.js";
import { isRecord } from "../body/json.js";
import type { TemplateFile } from "./template-file.js";

/** How a template wants what clients spell in more than one way. Found out by trying, as llama.cpp does. */
interface Traits {
  /** Arguments of a tool call as a JSON value; else as the text that OpenAI's API has. */
  readonly takesArgumentValues: boolean;
  /** A message with tool calls and no text has `content: null`; else an empty text. */
  readonly wantsNullContent: boolean;
  readonly rendersTools: boolean;
  readonly rendersCalls: boolean;
}

export interface RenderedChat {
  readonly text: string;
  /** What the template left out, though a server may add it in its own way. */
  readonly leftOut: { readonly tools: boolean; readonly calls: boolean };
  /** It prints ids of tool calls; ours are not the caller's. */
  readonly hasCallIds: boolean;
}

/** Words that no template has of its own. */
const NAME = "q7zk";
const ARGUMENT = "k7zq";
const ROLES = new Set(["system", "user", "assistant", "tool"]);
/**
 * Stands for the ids of tool calls, which are not known here. Mistral's templates print them and take nine letters and
 * digits only; these are more tokens than most.
 */
const CALL_ID = "x7Qk9ZpW3";
/** No template writes so much more than it is given. */
const MAX_GROWTH = 4;
const MAX_OWN_LENGTH = 131_072;

/** A model's own chat template. Runs in a vocabulary's thread: an operator's template may be slow, or never end. */
export class ChatTemplate {
  private readonly traits: Traits;

  constructor(private readonly file: TemplateFile) {
    this.traits = this.findTraits();
  }

  /** True when every role is one that templates are written for. */
  static knowsRolesOf(chat: Chat): boolean {
    return chat.messages.every(({ role }) => ROLES.has(role));
  }

  /**
   * `length` is the chat's own, as JSON.
   * @throws whatever the template throws: Mistral's and Gemma's want users and assistants to alternate.
   */
  render(chat: Chat, length: number): RenderedChat {
    const text = this.run(chat, this.traits);
    if (text.length > length * MAX_GROWTH + MAX_OWN_LENGTH) throw new Error("the template writes too much");
    const hasCalls = chat.messages.some(({ toolCalls }) => toolCalls.length > 0);
    return {
      text,
      hasCallIds: hasCalls && text.includes(CALL_ID),
      leftOut: {
        tools: chat.tools.length > 0 && !this.traits.rendersTools,
        calls: hasCalls && !this.traits.rendersCalls,
      },
    };
  }

  private run(chat: Chat, traits: Traits): string {
    const hasTools = chat.tools.length > 0;
    const template: Template = hasTools ? this.file.withTools : this.file.withoutTools;
    return template.render({
      ...chat.templateArguments,
      messages: chat.messages.map((message) => toTemplateMessage(message, traits)),
      tools: hasTools ? chat.tools : null,
      documents: null,
      add_generation_prompt: true,
      bos_token: this.file.bosToken,
      eos_token: this.file.eosToken,
    });
  }

  private findTraits(): Traits {
    const user: ChatMessage = { role: "user", text: "x", toolCalls: [] };
    const call: ToolCall = { name: NAME, arguments: JSON.stringify({ [ARGUMENT]: "x" }) };
    const caller: ChatMessage = { role: "assistant", text: "", toolCalls: [call] };
    const tool = { type: "function", function: { name: NAME, description: "x", parameters: {} } };
    const shows = (chat: Partial<Chat>, traits: Partial<Traits>, sought: string): boolean => {
      const whole: Chat = { ...plainChat([user]), ...chat };
      try {
        const text = this.run(whole, { ...BARE_TRAITS, ...traits });
        // A text that is printed as JSON has its quotes escaped.
        return text.includes(sought) && !text.includes(`\\"${sought}`);
      } catch {
        return false;
      }
    };
    const calling = { messages: [user, caller] };
    const spelling = SPELLINGS.find((traits) => shows(calling, traits, ARGUMENT));
    return {
      takesArgumentValues: spelling?.takesArgumentValues ?? false,
      wantsNullContent: spelling?.wantsNullContent ?? false,
      rendersCalls: spelling !== undefined,
      rendersTools: shows({ tools: [tool] }, {}, NAME),
    };
  }
}

/** The likeliest first. */
const SPELLINGS = [
  { takesArgumentValues: true, wantsNullContent: false },
  { takesArgumentValues: false, wantsNullContent: false },
  { takesArgumentValues: true, wantsNullContent: true },
  { takesArgumentValues: false, wantsNullContent: true },
];

const BARE_TRAITS: Traits = {
  takesArgumentValues: false,
  wantsNullContent: false,
  rendersTools: true,
  rendersCalls: true,
};

function toTemplateMessage(message: ChatMessage, traits: Traits): Record<string, unknown> {
  const hasCalls = message.toolCalls.length > 0;
  const spelled: Record<string, unknown> = {
    role: roleOf(message.role),
    content: hasCalls && message.text === "" && traits.wantsNullContent ? null : message.text,
  };
  if (message.name !== undefined) spelled.name = message.name;
  if (message.reasoning !== undefined) spelled.reasoning_content = message.reasoning;
  if (message.role === "tool") spelled.tool_call_id = CALL_ID;
  if (hasCalls) {
    spelled.tool_calls = message.toolCalls.map((call) => ({
      id: CALL_ID,
      type: "function",
      function: { name: call.name, arguments: argumentsOf(call, traits) },
    }));
  }
  return spelled;
}

/** Templates leave roles out that they don't know; we count them, rather too much than too little. */
function roleOf(role: string): string {
  if (ROLES.has(role)) return role;
  if (role === "developer") return "system";
  return role === "function" ? "tool" : "user";
}

/** Servers parse the text that clients send and let the template print the value. */
function argumentsOf({ arguments: given }: ToolCall, traits: Traits): unknown {
  if (!traits.takesArgumentValues) return typeof given === "string" ? given : JSON.stringify(given);
  if (typeof given !== "string") return given;
  try {
    const parsed: unknown = JSON.parse(given);
    return isRecord(parsed) ? parsed : given;
  } catch {
    return given;
  }
}

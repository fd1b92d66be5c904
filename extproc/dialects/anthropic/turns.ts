import { isRecord, type JsonRecord } from "../../body/json.js";
import { Untranslatable } from "../untranslatable.js";
import { blocksOf, textOf } from "./blocks.js";
import { toolUsesOf, toToolId } from "./tool-uses.js";

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: JsonRecord[];
}

/**
 * A chat's messages as turns of Messages: what the system says stands apart, messages of one role that follow each
 * other are one turn, and results of tools open the user's.
 */
export class Turns {
  /** Tools that were called in the history. */
  readonly toolNames = new Set<string>();
  private readonly turns: Turn[] = [];
  private readonly systemTexts: string[] = [];

  /** @throws Untranslatable */
  constructor(messages: readonly unknown[]) {
    for (const message of messages) {
      if (!isRecord(message)) throw new Untranslatable("a message is no object");
      this.add(message);
    }
    if (this.turns.length === 0) throw new Untranslatable("nothing is said to the model");
  }

  get list(): readonly Turn[] {
    return this.turns;
  }

  get system(): string | undefined {
    return this.systemTexts.length > 0 ? this.systemTexts.join("\n\n") : undefined;
  }

  private add(message: JsonRecord): void {
    switch (message.role) {
      case "system":
      case "developer":
        this.addSystem(textOf(message.content));
        break;
      case "user":
        this.append("user", blocksOf(message.content));
        break;
      case "assistant":
        this.addAnswer(message);
        break;
      case "tool":
        this.addResult(message.tool_call_id, message.content);
        break;
      case "function":
        this.addResult(message.name, message.content);
        break;
      default:
        throw new Untranslatable("a role that Messages does not know");
    }
  }

  private addSystem(text: string): void {
    if (text !== "") this.systemTexts.push(text);
  }

  private addAnswer(message: JsonRecord): void {
    const uses = toolUsesOf(message);
    for (const { name } of uses) this.toolNames.add(name);
    this.append("assistant", [...blocksOf(message.content ?? message.refusal), ...uses]);
  }

  private addResult(id: unknown, content: unknown): void {
    const result = { type: "tool_result", tool_use_id: toToolId(id), content: blocksOf(content) };
    const { content: blocks } = this.turnOf("user");
    blocks.splice(blocks.findLastIndex(({ type }) => type === "tool_result") + 1, 0, result);
  }

  /** Turns without content are refused there, so a message without any begins none. */
  private append(role: Turn["role"], blocks: readonly JsonRecord[]): void {
    if (blocks.length === 0) return;
    const { content } = this.turnOf(role);
    for (const block of blocks) content.push(block);
  }

  /** The last turn, if it is of that role, or a new one. */
  private turnOf(role: Turn["role"]): Turn {
    const last = this.turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, content: [] };
    this.turns.push(turn);
    return turn;
  }
}

import { fencesIn, textOf } from "./markdown.js";

/** The commands of a document's `sh` blocks, in their order; a here-document and a continued line are one with their command. */
export function commandsIn(document: string): string[] {
  return fencesIn(textOf(document))
    .filter(({ language }) => /^(sh|bash|shell|console)$/.test(language))
    .flatMap(({ text }) => splitCommands(text));
}

export function splitCommands(block: string): string[] {
  const commands: string[] = [];
  let command = "";
  let hereEnd: string | undefined;
  for (const line of block.split("\n")) {
    command = command === "" ? line : `${command}\n${line}`;
    if (hereEnd !== undefined) {
      if (line !== hereEnd) continue;
      hereEnd = undefined;
    } else {
      hereEnd = /<<-?\s*'?(\w+)'?/.exec(line)?.[1];
      if (hereEnd !== undefined || line.endsWith("\\") || isOpen(command)) continue;
    }
    if (command.trim() !== "" && !command.trimStart().startsWith("#")) commands.push(command);
    command = "";
  }
  if (command.trim() !== "") throw new Error(`a command does not end:\n${command}`);
  return commands;
}

/** Whether a function or a loop goes on in the next line. */
function isOpen(command: string): boolean {
  const words = command.split(/[\s;]+/);
  const count = (...wanted: string[]) => words.filter((word) => wanted.includes(word)).length;
  return count("{") > count("}") || count("do") > count("done");
}

/** The command without what is told of it behind `#`. */
export function withoutRemark(command: string): string {
  for (const { index } of command.matchAll(/\s+# /g)) {
    const before = command.slice(0, index);
    if (isEven(before, "'") && isEven(before, '"')) return before;
  }
  return command;
}

function isEven(text: string, quote: string): boolean {
  return text.split(quote).length % 2 === 1;
}

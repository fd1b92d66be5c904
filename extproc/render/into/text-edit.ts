/** A piece of a text that gives way to another; `start` = `end` puts in. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Of several at one place the first stands first. They don't overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let done = "";
  let at = 0;
  for (const edit of inOrder(edits)) {
    done += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return done + text.slice(at);
}

/** By place; a sort is stable. */
export function inOrder(edits: readonly Edit[]): Edit[] {
  return edits.toSorted((one, other) => one.start - other.start);
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** In front of what ends the line, LF or CRLF. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  if (end < 0) return text.length;
  return end > offset && text[end - 1] === "\r" ? end - 1 : end;
}

export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** All lines of a list's item, with the comment above it; undefined when another stands in them, too. */
export function linesOfItem(
  text: string,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } | undefined {
  const dash = text.slice(0, start).trimEnd().length - 1;
  let from = lineStart(text, dash);
  if (text[dash] !== "-" || text.slice(from, dash).trim() !== "") return undefined;
  for (let above = from; above > 0; ) {
    above = lineStart(text, above - 1);
    if (!text.slice(above, from).trimStart().startsWith("#")) break;
    from = above;
  }
  return { start: from, end: nextLine(text, end) };
}

/** Lines that are put in end as those of the file do. */
export function endingLinesAs(text: string, edits: readonly Edit[]): Edit[] {
  if (!text.includes("\r\n")) return [...edits];
  return edits.map((edit) => ({ ...edit, text: edit.text.replaceAll("\n", "\r\n") }));
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** Each line but the first is set in by so many blanks. */
export function setIn(fragment: string, columns: number): string {
  return fragment.replaceAll(/\n(?=[^\n])/g, `\n${" ".repeat(columns)}`);
}

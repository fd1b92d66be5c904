import { clean, UNPLAIN } from "../control/words.js";

/*
 * What is shown comes from whoever answers, and names in it from gateways: nothing in it may move the cursor, colour a line or
 * turn its direction.
 */

/** The same, with a blank for each character that would do something in a terminal. */
export function plain<Answer>(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    typeof value === "string" ? plainText(value) : value,
  );
}

export function plainText(text: string): string {
  return clean(text, text.length);
}

/** Such characters as JSON spells them; it is the same value. */
export function plainJson(json: string): string {
  return json.replaceAll(UNPLAIN, (character) => (character === "\n" ? character : spell(character)));
}

function spell(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}

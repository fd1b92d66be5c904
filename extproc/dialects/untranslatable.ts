/** The request holds what the dialect can't say; the message says what, never its content. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";
}

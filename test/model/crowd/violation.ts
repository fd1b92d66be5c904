/** A rule that did not hold. */
export class Violation extends Error {
  override name = "Violation";

  constructor(
    readonly rule: string,
    details: string,
  ) {
    super(`${rule}: ${details}`);
  }
}

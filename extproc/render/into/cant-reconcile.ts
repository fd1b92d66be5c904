/** What a text can't be brought to, and where. */
export class CantReconcile extends Error {
  override readonly name = "CantReconcile";

  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

/** What a caller of the control API did that can't be done; the message says what to do instead. */
export class ControlError extends Error {
  override readonly name = "ControlError";

  constructor(
    readonly status: 400 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 503,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
}

/** What ends the command, with its exit code: 1 = it could not be done, 2 = it was asked for wrongly. */
export class CliError extends Error {
  override readonly name = "CliError";

  constructor(
    readonly exitCode: 1 | 2,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The one kind of error for a configuration that can't be used; the message names every bad field. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

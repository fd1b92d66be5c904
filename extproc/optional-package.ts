import { ConfigError } from "./config/errors.js";

/**
 * What an optional package gives, which `npm ci --omit=optional` leaves out.
 * @throws ConfigError that names the setting which needs it, when it is not installed.
 */
export async function loadOptional<Module>(
  setting: readonly string[],
  packages: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const remedy = `needs ${packages}, which is not installed: "npm ci --include=optional" installs it`;
    throw ConfigError.of(setting, remedy, cause);
  }
}

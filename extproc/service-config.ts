import { z } from "zod";
import { callerSettings } from "./callers/settings.js";
import { address, addressOrOff, count, duration } from "./config/fields.js";
import { checkSettings, SettingsFile } from "./config/load.js";
import { controlSettings } from "./control/settings.js";
import { limitsSettings } from "./limits/settings.js";
import { peersSettings } from "./peers/settings.js";
import { cacheSettings } from "./remember/settings.js";
import { signalsSettings } from "./signals/settings.js";
import { syncSettings } from "./sync/settings.js";
import { LOG_LEVELS } from "./telemetry/log.js";
import { tokenizersSettings, tokensSettings } from "./tokens/settings.js";
import { tracesSettings } from "./traces/settings.js";
import { webhooksSettings } from "./webhook/settings.js";

/** Names the variable that holds the path of our YAML file. */
export const CONFIG_VARIABLE = "LLM_BREAKER_CONFIG";

/** The whole file. Each folder states its own settings, so that `config/` knows none of them. */
export const serviceSchema = z.strictObject({
  listen: z
    .strictObject({
      grpc: address.default("127.0.0.1:9002").describe("Where Envoy speaks ext_proc. host:port."),
      http: address
        .default("127.0.0.1:9003")
        .describe("Where gateways sync and /healthz and /metrics are asked. host:port."),
      admin: addressOrOff
        .default("127.0.0.1:9004")
        .describe("Where the control API is asked. host:port, or off for none."),
    })
    .prefault({})
    .describe("Ports. A change needs a restart."),
  log: z
    .strictObject({
      level: z.enum(LOG_LEVELS).default("info").describe("The least serious line that is written."),
    })
    .prefault({})
    .describe("JSON lines on standard output."),
  drainTimeout: duration.prefault("10s").describe("How long open streams may take to finish after SIGTERM."),
  maxBodyBytes: count(1024)
    .default(16_777_216)
    .describe(
      "A larger body, as sent or decompressed, gets 413 where it is counted, and is not rewritten. Bytes.",
    ),
  callers: callerSettings,
  cache: cacheSettings,
  tokens: tokensSettings,
  tokenizers: tokenizersSettings,
  limits: limitsSettings,
  signals: signalsSettings,
  sync: syncSettings,
  peers: peersSettings,
  control: controlSettings,
  webhooks: webhooksSettings,
  traces: tracesSettings,
});

export type ServiceConfig = Readonly<z.output<typeof serviceSchema>>;

export type ConfigFile = SettingsFile<typeof serviceSchema>;

/**
 * Defaults, then everything validated at once.
 * @throws ConfigError whose one-line message names each bad field, the rule and what was given.
 */
export function parseConfig(raw: unknown): ServiceConfig {
  return checkSettings(serviceSchema, raw);
}

/** The file that LLM_BREAKER_CONFIG names; undefined when it is unset or empty: then everything has its default. */
export function configFile(environment: NodeJS.ProcessEnv): ConfigFile | undefined {
  const path = environment[CONFIG_VARIABLE];
  return path ? new SettingsFile(serviceSchema, path, CONFIG_VARIABLE) : undefined;
}

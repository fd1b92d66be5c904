import type { Logger } from "pino";
import { CountRole } from "./count/role.js";
import { RewriteRole } from "./rewrite/role.js";
import type { Role } from "./role.js";
import type { ServiceConfig } from "./service-config.js";
import { TokenCounter } from "./tokens/counter.js";
import { Families } from "./tokens/families.js";

/** All that one configuration gives: what streams are answered by. */
export interface Services {
  /** By the name in the gRPC metadata x-llm-breaker-role. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Gives back what they hold; their streams are over by then. */
  close(): void;
}

/**
 * Loads the vocabularies (1.5–2 s, blocking).
 * @throws ConfigError for a bad vocabulary.
 */
export function buildServices(config: ServiceConfig, log: Logger): Services {
  const families = Families.load(config);
  const counter = new TokenCounter((model) => families.find(model), config.tokens);
  return {
    roles: new Map<string, Role>([
      ["count", new CountRole(counter, config.tokens)],
      ["rewrite", new RewriteRole(config.maxBodyBytes, log)],
    ]),
    close: () => {},
  };
}

import { isIP } from "node:net";
import { z } from "zod";
import { address, count } from "../config/fields.js";
import { backendFields } from "./backend-fields.js";

const NAME_RULE = "must be 1 to 63 of a-z, 0-9 and -, since objects of clusters are named by it";
const HOST_RULE = "must be a host name or an address, without a port";

const host = z.string(HOST_RULE).regex(/^([A-Za-z0-9._-]{1,253}|\[?[0-9a-fA-F:.]{2,45}\]?)$/, HOST_RULE);

const service = z.union(
  [
    host,
    z.strictObject({
      host: host.describe("Where it is."),
      grpcPort: count(1, 65_535).default(9002).describe("Where it speaks ext_proc."),
      httpPort: count(1, 65_535).default(9003).describe("Where gateways sync."),
    }),
  ],
  "must be a host, or {host, grpcPort, httpPort}",
);

const LISTEN_RULE = "must have an address, like 0.0.0.0:10000: Envoy listens at no name";

const PREFIX_RULE = "must begin with /, like /v1/embeddings";

/** The rest of a chain is the policy's, and checked by its parser. */
const chain = z.looseObject({
  tiers: z.array(z.string(), "must be a list of backends").describe("Backends in order of preference."),
  models: z
    .array(z.string(), "must be a list of models")
    .optional()
    .describe(
      'Models of the body whose requests it serves: "qwen3-32b", "qwen3-*". Without: those of its route.',
    ),
  prefix: z
    .string(PREFIX_RULE)
    .regex(/^\/\S*$/, PREFIX_RULE)
    .optional()
    .describe("Callers' paths that begin so are the chain's, by a route of its own."),
});

/** policy.yaml. */
export const policySchema = z.strictObject({
  name: z
    .string(NAME_RULE)
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, NAME_RULE)
    .default("llm")
    .describe("Names the policy, its routes and its objects."),
  listen: address
    .refine(
      (text) => isIP(text.slice(0, text.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1")) !== 0,
      LISTEN_RULE,
    )
    .default("0.0.0.0:10000")
    .describe("Where callers come to, where a listener is made. host:port."),
  service: service
    .optional()
    .describe(
      "The service beside Envoy: the live page, status, orders, webhooks; bodies rewritten, callers' limits, canaries by counted tokens. " +
        "Default: 127.0.0.1 if the policy needs it, else none.",
    ),
  backends: z
    .record(z.string(), backendFields, "must be a map of backends")
    .describe("Units that are broken and recovered, by alias: one model version at one place each."),
  chains: z
    .record(z.string(), chain, "must be a map of chains")
    .describe("The ordered backends that may answer one kind of request."),
  defaultChain: z.unknown().optional().describe("The chain of models that no chain has."),
  breaker: z.unknown().optional().describe("Settings of every backend: docs/configuration.md."),
  tracing: z.unknown().optional().describe("Tells the attributes of Envoy's spans."),
  shedClasses: z.unknown().optional().describe("Classes of routes that pass over tiers with long queues."),
});

export type PolicyFields = z.output<typeof policySchema>;

export const DEFAULT_SERVICE = { host: "127.0.0.1", grpcPort: 9002, httpPort: 9003 } as const;

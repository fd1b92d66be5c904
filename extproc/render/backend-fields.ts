import { z } from "zod";
import { count, flag, headerName, text, url } from "../config/fields.js";
import { DIALECTS, type DialectName } from "../dialects/dialects.js";

const PATH_RULE = "must begin with / and hold no blanks";
const path = z.string(PATH_RULE).regex(/^\/\S*$/, PATH_RULE);

const HOST_RULE = "must be a host name, or host:port";
const host = z.string(HOST_RULE).regex(/^[A-Za-z0-9._:[\]-]{1,255}$/, HOST_RULE);

/** They are put together with commas and equal signs. */
const FIELD_RULE = "must be a field's name, without blanks, commas and equal signs";
const fieldName = z.string(FIELD_RULE).regex(/^[^\s,=]{1,128}$/, FIELD_RULE);

export const DEFAULT_CA_FILE = "/etc/ssl/certs/ca-certificates.crt";

const where = {
  url: url("http", "https")
    .optional()
    .describe(
      "Where it is, like https://api.example.com/v1. https is TLS with its certificate checked. A path but /v1 takes the place of a " +
        "leading /v1 of callers' paths; a host name is told as `Host`.",
    ),
  cluster: text
    .optional()
    .describe(
      "In place of `url`: what is there already. An Envoy cluster; in Istio a host and port. Default: the alias.",
    ),
  caFile: text
    .default(DEFAULT_CA_FILE)
    .describe("With https: PEM file of the authorities whose certificates it may have."),
  http2: flag.default(false).describe("It speaks HTTP/2."),
};

/** What the meter needs no service for. */
const meters = {
  host: host
    .optional()
    .describe("Takes the place of `:authority`. Default: the host of `url`, if it is a name."),
  path: path.optional().describe("Takes the place of every path."),
  pathPrefix: path.optional().describe("Takes the place of a leading /v1. Default: the path of `url`."),
  query: z
    .string("must be a text")
    .max(4096)
    .optional()
    .describe("Takes the place of any query; empty: none is sent."),
  loadMetrics: z
    .enum(["TEXT", "text", "JSON", "json"])
    .optional()
    .describe("Asks the engine for its load in its answers' headers; vLLM: capitals, Triton: small letters."),
};

/** Each of these needs the service. */
const bodys = {
  model: text.optional().describe("Its own name of its model, put into the body."),
  maxOutputTokens: count(1, 999_999_999).optional().describe("Cap on what is asked for."),
  outputTokensField: z
    .enum(["max_tokens", "max_completion_tokens"])
    .optional()
    .describe("The one name by which it knows a chat's limit."),
  remove: z
    .array(fieldName, "must be a list of fields")
    .optional()
    .describe("Top-level fields to take out; `tools` and `web_search` stand for all of theirs."),
  rename: z
    .record(fieldName, fieldName)
    .optional()
    .meta({ example: { seed: "random_seed" } })
    .describe("Top-level fields to rename, from: to."),
  includeUsage: flag.optional().describe("Streams are asked for their usage."),
  answerModel: z
    .enum(["caller", "backend"])
    .optional()
    .describe("`caller`: answers name the model as the caller did."),
  dialect: z
    .enum(Object.keys(DIALECTS) as [DialectName, ...DialectName[]])
    .optional()
    .describe("Chat completions are translated to it, and the answers back."),
};

const degrading = {
  degradedMaxOutputTokens: count(1, 999_999_999)
    .optional()
    .describe("As `maxOutputTokens`, only while it is half-open or its queue is long."),
  degradedRemove: z
    .array(fieldName, "must be a list of fields")
    .optional()
    .describe("As `remove`, only while it is half-open or its queue is long."),
};

const credential = {
  keyFile: text
    .optional()
    .describe(
      "A key of our own, which replaces the caller's: a file that Envoy watches, with an SDS secret whose name is the alias and -key " +
        "(envoy/secrets/public-key.yaml is one).",
    ),
  keyHeader: headerName.optional().describe("The request header it goes into. Default: authorization."),
  keyPrefix: z
    .string("must be a text")
    .max(128)
    .optional()
    .describe('Put before the key, like "Bearer ". Default: nothing, the file holds it all.'),
};

/** Of the policy: what admission needs. Checked by its parser, in its words. */
const admission = {
  contextWindow: z.unknown().optional().describe("Tokens. A prompt that can't fit takes the next tier."),
  firstTokenTimeout: z.unknown().optional().describe("Wait for its first token. Default: the chain's."),
  maxConcurrentCalls: z.unknown().optional().describe("Calls in flight; above it the next tier is taken."),
  price: z.unknown().optional().describe("{prompt, completion} per million tokens."),
  budgetPerDay: z
    .unknown()
    .optional()
    .describe("In the price's currency: a minute that costs a multiple of its share opens."),
  breaker: z.unknown().optional().describe("Its own settings, over the shared ones."),
};

export const METER_KEYS = Object.keys(meters) as (keyof typeof meters)[];
export const BODY_KEYS = Object.keys(bodys) as (keyof typeof bodys)[];
export const DEGRADING_KEYS = Object.keys(degrading) as (keyof typeof degrading)[];
export const ADMISSION_KEYS = Object.keys(admission) as (keyof typeof admission)[];

export const backendFields = z
  .strictObject({ ...where, ...meters, ...bodys, ...degrading, ...credential, ...admission })
  .superRefine((backend, { addIssue }) => {
    const refuse = (field: keyof typeof backend, message: string) =>
      addIssue({ code: "custom", path: [field], message, input: backend[field] });
    if (backend.url !== undefined && backend.cluster !== undefined) {
      refuse("cluster", "must not stand beside url: it is either there already, or made");
    }
    const given = backend.url === undefined || !URL.canParse(backend.url) ? undefined : new URL(backend.url);
    if (given !== undefined) {
      if (given.username + given.password !== "")
        refuse("url", "must not hold a user or a password; use keyFile");
      if (given.search + given.hash !== "") refuse("url", "must not hold a query or a fragment; use query");
      if (given.port === "0") refuse("url", "must not have port 0, at which nothing listens");
    }
    if (backend.path !== undefined && (backend.pathPrefix ?? basePathOf(given)) !== undefined) {
      refuse("path", "must not stand beside pathPrefix or the path of url: only one of them can be sent");
    }
    if (backend.path !== undefined && backend.dialect !== undefined) {
      refuse("path", "must not stand beside dialect, which makes the path");
    }
    if (backend.keyFile === undefined && (backend.keyHeader ?? backend.keyPrefix) !== undefined) {
      refuse(backend.keyHeader === undefined ? "keyPrefix" : "keyHeader", "needs keyFile");
    }
  });

export type BackendFields = z.output<typeof backendFields>;

/** What takes the place of a leading /v1; undefined when there is nothing to change. */
export function basePathOf(given: URL | undefined): string | undefined {
  const base = given?.pathname.replace(/\/+$/, "") ?? "";
  return base === "" || base === "/v1" ? undefined : base;
}

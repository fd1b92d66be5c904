import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import { dryRunResultSchema, dryRunSchema } from "./dry-run-schemas.js";
import {
  backendSchema,
  backendsSchema,
  chainsSchema,
  entrySchema,
  errorSchema,
  gatewaysSchema,
  historySchema,
  overrideSchema,
  peersSchema,
  resetSchema,
  setSchema,
  trendsSchema,
  withdrawSchema,
} from "./schemas.js";

const MAX_NAME_LENGTH = 63;

const json = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

const body = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true as const,
  content: { "application/json": { schema } },
});

const refusals = {
  400: json(errorSchema, "A field is wrong; `field` names it."),
  401: json(errorSchema, "No token, or one that is not known."),
  403: json(errorSchema, "The host or the origin is not one that may ask."),
  404: json(errorSchema, "There is no such backend; the message names those there are."),
  411: json(errorSchema, "The body's length is not told."),
  413: json(errorSchema, "The body is larger than 1 MiB."),
  415: json(errorSchema, "The body is not application/json."),
  429: json(errorSchema, "Too much at once."),
  503: json(errorSchema, "Not now."),
} as const;

const backendName = z.object({
  name: z
    .string()
    .min(1)
    .max(MAX_NAME_LENGTH)
    .openapi({ description: "The policy's alias.", example: "gpu" }),
});

const entryId = z.coerce
  .number("must be a whole number")
  .int("must be a whole number")
  .min(0, "must be at least 0");

export const listBackends = createRoute({
  method: "get",
  path: "/v1/backends",
  summary: "State of all backends over all gateways, worst first",
  responses: { 200: json(backendsSchema, "All that live gateways report."), ...refusals },
});

export const getBackend = createRoute({
  method: "get",
  path: "/v1/backends/{name}",
  summary: "State of one backend",
  request: { params: backendName },
  responses: { 200: json(backendSchema, "The backend."), ...refusals },
});

export const listTransitions = createRoute({
  method: "get",
  path: "/v1/transitions",
  summary: "Transitions and operators' words, oldest first",
  request: {
    query: z.object({
      backend: z.string().min(1).max(MAX_NAME_LENGTH).optional(),
      limit: entryId
        .min(1, "must be at least 1")
        .max(1000, "must be at most 1000")
        .default(100)
        .openapi({ description: "The last so many, or the first so many behind `after`." }),
      after: entryId.optional().openapi({ description: "The id of the last entry that is known already." }),
    }),
  },
  responses: { 200: json(historySchema, "Of the last thousand entries."), ...refusals },
});

export const streamEvents = createRoute({
  method: "get",
  path: "/v1/events",
  summary: "Transitions and operators' words as they come",
  request: {
    headers: z.object({
      "last-event-id": entryId.optional().openapi({ description: "Goes on behind this entry." }),
    }),
  },
  responses: {
    200: {
      description:
        "Server-sent events: the kind as event, the entry as data, its id as id. A comment each 15 s.",
      content: { "text/event-stream": { schema: entrySchema } },
    },
    ...refusals,
  },
});

const action = <Name extends string>(name: Name, summary: string) =>
  createRoute({
    method: "post",
    path: `/v1/backends/{name}/${name}` as const,
    summary,
    request: { params: backendName, body: body(setSchema) },
    responses: { 200: json(overrideSchema, "Holds on every gateway within two seconds."), ...refusals },
  } satisfies RouteConfig);

export const openBackend = action("open", "Refuse everything: callers go to the next tier");
export const closeBackend = action("close", "Let everything pass, whatever triggers say");
export const disableBackend = action("disable", "Let everything pass, and file and probe nothing");

export const resetBackend = createRoute({
  method: "post",
  path: "/v1/backends/{name}/reset",
  summary: "Close it on all gateways, with an empty window; from then on the policy decides as ever",
  request: { params: backendName, body: body(resetSchema) },
  responses: {
    202: json(z.object({ backend: z.string() }), "Gateways hear of it within a second."),
    ...refusals,
  },
});

export const withdrawOverride = createRoute({
  method: "delete",
  path: "/v1/backends/{name}/override",
  summary: "Take an override back: the policy holds again",
  request: { params: backendName, query: withdrawSchema },
  responses: { 200: json(overrideSchema, "The override that held until now."), ...refusals },
});

export const listGateways = createRoute({
  method: "get",
  path: "/v1/gateways",
  summary: "Envoy processes that sync with this service",
  responses: { 200: json(gatewaysSchema, "Heard from within 3 s."), ...refusals },
});

export const listTrends = createRoute({
  method: "get",
  path: "/v1/trends",
  summary: "What came to each backend within the last 15 minutes, and how it stood",
  request: {
    query: z.object({
      after: entryId
        .optional()
        .openapi({ description: "`endMs` of an earlier answer: only points that ended later are given." }),
    }),
  },
  responses: { 200: json(trendsSchema, "Over all gateways of this service."), ...refusals },
});

export const listChains = createRoute({
  method: "get",
  path: "/v1/chains",
  summary: "Which backends serve which chain",
  responses: { 200: json(chainsSchema, "Of all policies that live gateways have."), ...refusals },
});

export const listPeers = createRoute({
  method: "get",
  path: "/v1/peers",
  summary: "The group of services",
  responses: { 200: json(peersSchema, "Without `peers` in the configuration: none."), ...refusals },
});

export const dryRun = createRoute({
  method: "post",
  path: "/v1/dry-run",
  summary: "What a policy would have done with the last hour",
  request: { body: body(dryRunSchema) },
  responses: { 200: json(dryRunResultSchema, "Beside what really happened."), ...refusals },
});

import { pino } from "pino";
import type { Answer } from "../../../extproc/messages.js";
import { RewriteRole } from "../../../extproc/rewrite/role.js";
import type { Job } from "../../../extproc/role.js";
import { clusterMetadata } from "../support/client.js";

const role = new RewriteRole(1_048_576, pino({ level: "silent" }));

/** A job for one attempt on a cluster with this metadata. */
export function begin(
  metadata: Record<string, string>,
  headers: Record<string, string> = {},
  attributes: Record<string, string> = {},
): Job {
  return role.begin({
    headers: new Map(Object.entries({ ":path": "/v1/chat/completions", ...headers })),
    attributes: new Map(Object.entries({ ...clusterMetadata(metadata), ...attributes })),
  });
}

/** What an answer changes, as texts. */
export function changesOf({ response, more }: Answer) {
  const body = response?.body_mutation;
  const set = response?.header_mutation?.set_headers ?? [];
  return {
    body: body && (body.clear_body ? "" : Buffer.from(body.body ?? []).toString()),
    set: Object.fromEntries(
      set.map(({ header }) => [header.key, Buffer.from(header.raw_value ?? []).toString()]),
    ),
    removed: response?.header_mutation?.remove_headers ?? [],
    more: more ?? false,
  };
}

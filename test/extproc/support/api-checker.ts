import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describeApi } from "../../../extproc/control/openapi.js";

interface Operation {
  readonly responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}

const api = describeApi() as { paths: Record<string, Record<string, Operation>> };
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(api, "api");

/** The description's path for one that was asked: `/v1/backends/{name}` for `/v1/backends/gpu`. */
function pathFor(asked: string): string {
  const parts = asked.split("?", 1)[0]?.split("/") ?? [];
  const found = Object.keys(api.paths).find((path) => {
    const wanted = path.split("/");
    return (
      wanted.length === parts.length && wanted.every((part, at) => part.startsWith("{") || part === parts[at])
    );
  });
  assert.ok(found, `${asked} is described`);
  return found;
}

/** Fails unless an answer is one that the API's description allows. */
export function checkAnswer(method: string, asked: string, status: number, body: unknown): void {
  const path = pathFor(asked);
  const verb = method.toLowerCase();
  assert.ok(api.paths[path]?.[verb]?.responses[status], `${method} ${path} may answer ${status}`);
  const pointer = [path, verb, "responses", String(status), "content", "application/json", "schema"]
    .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const isValid = ajv.getSchema(`api#/paths/${pointer}`);
  assert.ok(isValid, `${pointer} has a schema`);
  assert.ok(isValid(body), `${method} ${asked}: ${JSON.stringify(isValid.errors)} ${JSON.stringify(body)}`);
}

/** Every operation, as "get /v1/backends". */
export function operations(): string[] {
  return Object.entries(api.paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => `${verb} ${path}`),
  );
}

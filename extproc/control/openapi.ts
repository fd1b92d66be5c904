import { OpenAPIHono } from "@hono/zod-openapi";
import * as routes from "./routes.js";

const PATH = "docs/openapi.json";

/** OpenAPI 3.1 of the control API. */
export function describeApi(): object {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "One of control.tokenFile, when that is set.",
  });
  for (const route of Object.values(routes)) app.openAPIRegistry.registerPath(route);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "llm-breaker control API",
      version: "1",
      description:
        "State of all backends, their history, and an operator's word on them. Errors are `{error: {message, field}}`. On loopback it is open to this machine; elsewhere it wants a bearer token or a client certificate.",
    },
    servers: [{ url: "http://127.0.0.1:9004" }],
    security: [{}, { token: [] }],
  });
}

/** The file of the repository that follows from the routes. */
export function apiFile(): { readonly path: string; update(): string } {
  return { path: PATH, update: () => `${JSON.stringify(describeApi(), undefined, 2)}\n` };
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { z } from "zod";
import type { Backend } from "./backend.js";
import { faultSchema } from "./faults.js";
import { KV_CACHE_NAMES } from "./metrics.js";

const pageSchema = z.strictObject({
  backend: z.string(),
  kvCacheNames: z.enum(KV_CACHE_NAMES).default("new"),
  kvCacheUsage: z.union([z.number().min(0), z.literal("NaN")]).optional(),
  waiting: z.number().int().min(0).optional(),
});

/**
 * The fleet's remote control.
 * `POST /faults {backend, kind, …}` begins a fault, `DELETE /faults {backend}` (or `?backend=`) ends it and answers with the
 * recovery lag, `GET /faults` lists conditions, `GET /requests[?backend=]` lists arrivals, `POST /seen {backend, value}`
 * tells whether a header ever carried the value, `POST /page {backend, kvCacheNames, kvCacheUsage, waiting}` makes its /metrics
 * say that, under such names; what is left out is true again.
 * Errors are 400/404 JSON `{"error": …}` that name the field.
 */
export function createAdmin(backends: ReadonlyMap<string, Backend>): Server {
  return createServer((request, response) => {
    answer(backends, request, response).catch((error: unknown) => {
      const known =
        error instanceof AdminError || error instanceof z.ZodError || error instanceof SyntaxError;
      const message = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
      send(response, error instanceof AdminError ? error.status : known ? 400 : 500, { error: message });
    });
  });
}

const messageOf = (error: unknown): string => (error instanceof AdminError ? error.message : String(error));

class AdminError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = "AdminError";
    this.status = status;
  }
}

async function answer(
  backends: ReadonlyMap<string, Backend>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://fleet");
  const find = (name: string | null | undefined): Backend => {
    const backend = backends.get(name ?? "");
    if (backend !== undefined) return backend;
    throw new AdminError(
      404,
      `backend must be one of ${[...backends.keys()].join(", ")}, got ${name ?? "nothing"}`,
    );
  };
  switch (`${request.method} ${url.pathname}`) {
    case "POST /faults": {
      const { backend: name, ...rest } = z
        .looseObject({ backend: z.string() })
        .parse(await readBody(request));
      const backend = find(name);
      const fault = faultSchema.parse(rest);
      backend.beginFault(fault);
      return send(response, 200, { backend: name, fault });
    }
    case "DELETE /faults": {
      const body = z.object({ backend: z.string().optional() }).parse((await readBody(request)) ?? {});
      const backend = find(url.searchParams.get("backend") ?? body.backend);
      return send(response, 200, { backend: backend.settings.name, recoveryMs: backend.endFault() });
    }
    case "GET /faults":
      return send(
        response,
        200,
        Object.fromEntries([...backends].map(([name, backend]) => [name, backend.condition])),
      );
    case "GET /requests": {
      const name = url.searchParams.get("backend");
      const chosen = name === null ? [...backends.values()] : [find(name)];
      return send(
        response,
        200,
        Object.fromEntries(chosen.map((backend) => [backend.settings.name, logOf(backend)])),
      );
    }
    case "POST /seen": {
      const { backend: name, value } = z
        .object({ backend: z.string(), value: z.string() })
        .parse(await readBody(request));
      const { seen } = find(name);
      return send(response, 200, { seen: seen.has(value), overflowed: seen.overflowed });
    }
    case "POST /page": {
      const { backend: name, ...page } = pageSchema.parse(await readBody(request));
      find(name).page = page;
      return send(response, 200, { backend: name, page });
    }
    default:
      throw new AdminError(404, `no such call: ${request.method} ${url.pathname}`);
  }
}

function logOf({ arrivals }: Backend): object {
  const { total, probes, running, peak } = arrivals;
  return { total, probes, running, peak, requests: arrivals.list() };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString("utf8"));
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}

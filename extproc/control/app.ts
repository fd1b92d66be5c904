import type { TLSSocket } from "node:tls";
import type { HttpBindings } from "@hono/node-server";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Logger } from "pino";
import type { z } from "zod";
import type { DryRun } from "./dry-run.js";
import { ControlError } from "./errors.js";
import type { EventFeed } from "./event-feed.js";
import type { ControlParts } from "./fleet.js";
import { refusalOf } from "./guard.js";
import { MODE_OF, type ModeAction, noteReset } from "./journal.js";
import { describeApi } from "./openapi.js";
import { MAX_WHO_LENGTH, type Overrides, TooManyOverridesError } from "./overrides.js";
import * as routes from "./routes.js";
import { durationMs } from "./schemas.js";
import { addPage, type StaticFile } from "./static-page.js";
import type { Tokens } from "./tokens.js";
import { viewChains } from "./view-chains.js";
import { backendNames, viewBackends, viewEntry, viewGateways, viewOverride, viewPeers } from "./views.js";
import { clean, NOBODY_SYNCS } from "./words.js";

const MAX_NAMES_SHOWN = 20;
/** For who asks without a name. */
const NOBODY = "unknown";

/** What the routes are made of. */
export interface AppParts extends ControlParts {
  readonly overrides: Overrides;
  readonly feed: EventFeed;
  readonly dryRun: DryRun;
  /** The live page. */
  readonly page: readonly StaticFile[];
  readonly log: Logger;
  /** Undefined: no token is asked for. */
  tokens(): Tokens | undefined;
  /** True where a client without a certificate can't connect. */
  readonly hasClientCertificates: boolean;
}

interface Environment {
  Bindings: HttpBindings;
  /** By token or certificate; empty when neither is asked for. */
  Variables: { caller: string };
}

type Ask = Context<Environment>;

/** The control API, and the live page that asks it. */
export function createApp(parts: AppParts): OpenAPIHono<Environment> {
  const app = new OpenAPIHono<Environment>({
    defaultHook: (result, ask) => (result.success ? undefined : ask.json(errorOf(result.error), 400)),
  });
  app.use("*", async (ask, next) => {
    const refusal = admit(ask, parts);
    return refusal ?? next();
  });
  addPage(app, parts.page);
  addReading(app, parts);
  addActions(app, parts);
  app.get("/openapi.json", (ask) => ask.json(describeApi()));
  app.notFound((ask) => ask.json({ error: { message: "there is no such path; see /openapi.json" } }, 404));
  app.onError((cause, ask) => answerError(cause, ask, parts.log));
  return app;
}

function admit(ask: Ask, parts: AppParts): Response | undefined {
  const tokens = parts.tokens();
  const header = (name: string) => ask.req.header(name);
  // Nobody can send a token with an address that he types, and the page itself holds nothing.
  const isPage = ["/", ...parts.page.map(({ path }) => path)].includes(ask.req.path);
  const refusal = refusalOf(
    {
      method: ask.req.method,
      opensPage: ask.req.path === "/" && header("sec-fetch-mode") === "navigate",
      host: header("host"),
      origin: header("origin"),
      fetchSite: header("sec-fetch-site"),
      contentType: header("content-type"),
      contentLength: header("content-length"),
    },
    tokens !== undefined || parts.hasClientCertificates,
  );
  if (refusal !== undefined) return ask.json({ error: { message: refusal.message } }, refusal.status);
  const bearer = tokens?.whoIs(header("authorization"));
  if (tokens !== undefined && bearer === undefined && !isPage) {
    const message = "authorization: Bearer with a token of control.tokenFile is required";
    return ask.json({ error: { message } }, 401, { "www-authenticate": "Bearer" });
  }
  ask.set("caller", bearer ?? (parts.hasClientCertificates ? commonName(ask) : ""));
  return undefined;
}

function commonName({ env }: Ask): string {
  const subject = (env.incoming.socket as TLSSocket).getPeerCertificate().subject;
  const name = subject?.CN;
  return clean((Array.isArray(name) ? name[0] : name) ?? "certificate without a name", MAX_WHO_LENGTH);
}

function addReading(app: OpenAPIHono<Environment>, parts: AppParts): void {
  const { fleet, history, overrides, feed } = parts;
  app.openapi(routes.listBackends, (ask) => ask.json({ backends: viewBackends(parts, overrides) }, 200));
  app.openapi(routes.getBackend, (ask) => {
    const { name } = ask.req.valid("param");
    const found = viewBackends(parts, overrides).find((backend) => backend.name === name);
    if (found === undefined) throw unknownBackend(name, backendNames(fleet));
    return ask.json(found, 200);
  });
  app.openapi(routes.listTransitions, (ask) => {
    const { backend, limit, after } = ask.req.valid("query");
    const wanted = history.list(after).filter((entry) => backend === undefined || entry.backend === backend);
    const page = after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
    return ask.json({ entries: page.map(viewEntry) }, 200);
  });
  app.openapi(routes.streamEvents, (ask) => {
    // Nobody would read the stream, and nothing would end it.
    if (ask.req.method === "HEAD") throw new ControlError(405, "only GET is answered here");
    const stream = feed.open(ask.req.valid("header")["last-event-id"]);
    if (stream === undefined) throw new ControlError(503, "too many listen already, try again later");
    return ask.body(stream, 200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  });
  app.openapi(routes.listGateways, (ask) => ask.json(viewGateways(fleet), 200));
  app.openapi(routes.listTrends, (ask) => ask.json(parts.trends.view(ask.req.valid("query").after), 200));
  app.openapi(routes.listChains, (ask) => ask.json(viewChains(fleet), 200));
  app.openapi(routes.listPeers, (ask) => ask.json(viewPeers(parts), 200));
  app.openapi(routes.dryRun, async (ask) => ask.json(await parts.dryRun.run(ask.req.valid("json")), 200));
}

function addActions(app: OpenAPIHono<Environment>, parts: AppParts): void {
  const { fleet, history, overrides, log } = parts;
  const known = (name: string) => {
    const names = backendNames(fleet);
    if (!names.includes(name)) throw unknownBackend(name, names);
    return name;
  };
  const set = (action: ModeAction, name: string, ask: Ask, given: SetBody) => {
    const who = signed(ask.get("caller"), given.who);
    const word = overrides.set(known(name), MODE_OF[action], durationMs(given.for), who, given.why);
    return viewOverride(word, overrides);
  };
  app.openapi(routes.openBackend, (ask) =>
    ask.json(set("open", ask.req.valid("param").name, ask, ask.req.valid("json")), 200),
  );
  app.openapi(routes.closeBackend, (ask) =>
    ask.json(set("close", ask.req.valid("param").name, ask, ask.req.valid("json")), 200),
  );
  app.openapi(routes.disableBackend, (ask) =>
    ask.json(set("disable", ask.req.valid("param").name, ask, ask.req.valid("json")), 200),
  );
  app.openapi(routes.resetBackend, (ask) => {
    const { who, why } = ask.req.valid("json");
    const backend = known(ask.req.valid("param").name);
    noteReset(history, log, { backend, who: signed(ask.get("caller"), who), why });
    parts.group.reset(backend);
    return ask.json({ backend }, 202);
  });
  app.openapi(routes.withdrawOverride, (ask) => {
    const { name } = ask.req.valid("param");
    const { who, why } = ask.req.valid("query");
    const held = overrides.find(name);
    if (held === undefined) {
      const names = overrides.list().map(({ backend }) => backend);
      throw new ControlError(404, `no override holds on ${name}; there are some on: ${listOf(names)}`);
    }
    overrides.withdraw(name, signed(ask.get("caller"), who), why ?? "");
    return ask.json(viewOverride(held, overrides), 200);
  });
}

interface SetBody {
  readonly for: string;
  readonly why: string;
  readonly who?: string | undefined;
}

/** Who a token or a certificate says it is comes first; what he calls himself beside it is his to say. */
function signed(caller: string, claimed: string | undefined): string {
  if (caller === "") return claimed ?? NOBODY;
  return claimed === undefined || claimed === caller
    ? caller
    : clean(`${caller} (${claimed})`, MAX_WHO_LENGTH);
}

function unknownBackend(name: string, names: readonly string[]): ControlError {
  if (names.length === 0) return new ControlError(404, NOBODY_SYNCS);
  return new ControlError(404, `no gateway reports a backend ${name}; known: ${listOf(names)}`);
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length > MAX_NAMES_SHOWN ? ` and ${names.length - MAX_NAMES_SHOWN} more` : "";
  return names.slice(0, MAX_NAMES_SHOWN).join(", ") + more;
}

function errorOf(error: z.ZodError): { error: { message: string; field?: string } } {
  const [issue] = error.issues;
  const keys = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const field = [...(issue?.path ?? []), ...keys.slice(0, 1)].join(".");
  const rule = keys.length > 0 ? "is unknown" : (issue?.message ?? "is wrong");
  return { error: { message: field === "" ? rule : `${field} ${rule}`, ...(field !== "" && { field }) } };
}

function answerError(cause: Error, ask: Context, log: Logger): Response {
  if (cause instanceof ControlError) {
    const field = cause.field === undefined ? {} : { field: cause.field };
    return ask.json({ error: { message: cause.message, ...field } }, cause.status);
  }
  if (cause instanceof TooManyOverridesError) return ask.json({ error: { message: cause.message } }, 429);
  if (cause instanceof HTTPException && cause.status < 500) {
    return ask.json({ error: { message: cause.message || "the request is malformed" } }, 400);
  }
  log.error({ err: cause, path: ask.req.path.slice(0, 200) }, "control API failed");
  return ask.json({ error: { message: "internal error, see the service's log" } }, 500);
}

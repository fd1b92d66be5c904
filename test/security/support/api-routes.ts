import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";

export interface ApiRoute {
  readonly method: string;
  /** With `gpu` for a backend's name. */
  readonly path: string;
  /** One that its POST takes. */
  readonly body: string | undefined;
}

/** Every operation of docs/openapi.json, which follows from the routes: a new one is covered by itself. */
export function apiRoutes(): ApiRoute[] {
  const { paths } = JSON.parse(readFileSync(join(findRepoRoot(), "docs", "openapi.json"), "utf8")) as {
    paths: Record<string, Record<string, object>>;
  };
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => ({
      method: verb.toUpperCase(),
      path: path.replace("{name}", "gpu"),
      body: verb === "post" ? bodyFor(path) : undefined,
    })),
  );
}

/** A word that is no body of its route would be refused whoever says it, and so show nothing. */
function bodyFor(path: string): string {
  return path.endsWith("/reset") ? '{"why":"test"}' : '{"for":"1h","why":"test"}';
}

/** Other ways to write a path that some server, or some rule before it, takes for the same one. */
export function disguises(path: string, base: string): string[] {
  const [, first = "", ...rest] = path.split("/");
  const tail = rest.join("/");
  return [
    `/${path}`,
    `/.${path}`,
    `/..${path}`,
    `/x/..${path}`,
    `/%2e${path}`,
    `/x/%2e%2e${path}`,
    `/;${path}`,
    `/;/..${path}`,
    `${path};`,
    `${path};/`,
    `${path}/`,
    `${path}/.`,
    `${path}%00`,
    `${path}%20`,
    `${path}%23`,
    `${path}?/`,
    `/${first.toUpperCase()}/${tail}`,
    `/%76%31/${tail}`,
    `/${first}%2f${tail}`,
    `/${first}\\${tail.replaceAll("/", "\\")}`,
    `/?${path}`,
    `/#${path}`,
    `/index.html/..${path}`,
    `${base}${path}`,
    `http://127.0.0.1/..${path}`,
    `//127.0.0.1${path}`,
  ];
}

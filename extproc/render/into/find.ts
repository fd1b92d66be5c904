import { isMap } from "../policy-text.js";
import { type Fields, listIn, mapIn, nameIn, nameOf, type Path } from "./fields.js";

/** A part of the file and where it stands. */
export interface Place {
  readonly path: Path;
  readonly value: Fields;
}

export interface FoundRoute extends Place {
  readonly listener: string;
  readonly name: string;
  /** Prefix or path that it matches. */
  readonly match: string;
}

const MANAGER = /\.HttpConnectionManager$/;
const OURS = "llm.breaker";

function childOf({ path, value }: Place, name: string): Place {
  return { path: [...path, nameIn(value, name)], value: mapIn(value, name) };
}

function itemsOf({ path, value }: Place, name: string): Place[] {
  const spelled = nameIn(value, name);
  return listIn(value, name).map((item, at) => ({
    path: [...path, spelled, at],
    value: isMap(item) ? item : {},
  }));
}

export function staticResources(root: Fields): Place {
  return childOf({ path: [], value: root }, "static_resources");
}

export function listenersOf(root: Fields): Place[] {
  return itemsOf(staticResources(root), "listeners");
}

export function clustersOf(root: Fields): Place[] {
  return itemsOf(staticResources(root), "clusters");
}

/** `typed_config` of each HTTP connection manager of a listener. */
export function managersOf(listener: Place): Place[] {
  const chains = [...itemsOf(listener, "filter_chains"), childOf(listener, "default_filter_chain")];
  return chains
    .flatMap((chain) => itemsOf(chain, "filters"))
    .map((filter) => childOf(filter, "typed_config"))
    .filter(({ value }) => MANAGER.test(String(value["@type"])));
}

export function virtualHostsOf(manager: Place): Place[] {
  return itemsOf(childOf(manager, "route_config"), "virtual_hosts");
}

/** Those that go to a cluster: no redirects, no direct answers. */
export function routesIn(listener: Place, host: Place): FoundRoute[] {
  return itemsOf(host, "routes")
    .filter(({ value }) => isMap(value.route))
    .map((route) => {
      const match = mapIn(route.value, "match");
      return {
        ...route,
        listener: nameOf(listener.value),
        name: nameOf(route.value),
        match: String(
          match.prefix ?? match.path ?? match.path_separated_prefix ?? match.pathSeparatedPrefix ?? "",
        ),
      };
    });
}

export function routesOf(root: Fields): FoundRoute[] {
  return listenersOf(root).flatMap((listener) =>
    managersOf(listener).flatMap((manager) =>
      virtualHostsOf(manager).flatMap((host) => routesIn(listener, host)),
    ),
  );
}

/** The chain that a route names already. */
export function chainOf(route: Place): string | undefined {
  const ours = mapIn(mapIn(mapIn(route.value, "metadata"), "filter_metadata"), OURS);
  return typeof ours.chain === "string" ? ours.chain : undefined;
}

export function startsWith(path: Path, above: Path): boolean {
  return above.every((step, at) => path[at] === step);
}

import { type MeshObject, Setup } from "../setup/setup.js";
import { type Located, milliseconds } from "../tree/located.js";
import type { Found } from "./rule.js";

const UNSTOPPABLE = /^(5xx|gateway-error|retriable-4xx|retriable-status-codes|\d{3})$/;
const WIDE = 1000;

interface Entry {
  readonly object: MeshObject;
  readonly at: Located;
  readonly name: string | undefined;
  readonly hosts: readonly string[];
}

/** `http` entries of VirtualServices that lead to backends, or that an EnvoyFilter patches. */
export function virtualRoutes(setup: Setup): readonly Entry[] {
  const patched = patchedRoutes(setup).map(({ name }) => name);
  const services = backendHosts(setup);
  return setup.objectsOf("VirtualService").flatMap((object) =>
    object.spec.list("http").flatMap((at) => {
      const name = at.textOf("name");
      const hosts = at.list("route").flatMap((route) => route.at("destination", "host")?.text ?? []);
      const isOurs = hosts.some(
        (host) => /llm.?breaker/.test(host) || services.some((service) => sameHost(host, service)),
      );
      return isOurs || (name !== undefined && patched.includes(name)) ? [{ object, at, name, hosts }] : [];
    }),
  );
}

/** Names of routes that EnvoyFilters merge into. */
export function patchedRoutes(
  setup: Setup,
): readonly { readonly name: string; readonly at: Located; readonly value: Located | undefined }[] {
  return setup.objectsOf("EnvoyFilter").flatMap(({ spec }) =>
    spec.list("configPatches").flatMap((patch) => {
      const at = patch.at("match", "routeConfiguration", "vhost", "route", "name");
      const isRoute = patch.at("applyTo")?.text === "HTTP_ROUTE";
      return isRoute && at?.text !== undefined
        ? [{ name: at.text, at, value: patch.at("patch", "value") }]
        : [];
    }),
  );
}

/** Services of the mesh that answer for backends, by what patches and policies call them. */
export function backendHosts(setup: Setup): readonly string[] {
  const members = setup.backends.flatMap(({ at }) =>
    at.list("cluster_type", "typed_config", "clusters").flatMap(({ text }) => text ?? []),
  );
  const planned = setup.policies.flatMap(({ backends }) =>
    [...backends.values()].map(({ cluster }) => cluster),
  );
  const names = [...setup.backends.map(({ name }) => name), ...members, ...planned];
  return [...new Set(names.map((name) => name.split("|").at(-1) ?? name))].filter(
    (name) => !name.startsWith("llm.breaker."),
  );
}

/** `vllm` and `vllm.llm` may stand for `vllm.llm.svc.cluster.local`. */
export function sameHost(one: string, other: string): boolean {
  return one === other || other.startsWith(`${one}.`) || one.startsWith(`${other}.`);
}

export function* meshTimeouts(setup: Setup): Iterable<Found> {
  const answerMs = Setup.answerTimeout(setup.chains) || 120_000;
  const isShort = (at: Located | undefined) => {
    const limitMs = milliseconds(at?.text ?? "");
    return limitMs !== undefined && limitMs > 0 && limitMs < answerMs;
  };
  for (const { at, object } of virtualRoutes(setup)) {
    const timeout = at.get("timeout");
    if (timeout && isShort(timeout))
      yield { at: timeout, what: `an answer by VirtualService ${object.name} may take ${timeout.text}` };
  }
  if (!setup.usesBreaker) return;
  for (const { spec, name } of setup.objectsOf("HTTPRoute")) {
    for (const rule of spec.list("rules")) {
      for (const limit of ["request", "backendRequest"].map((each) => rule.at("timeouts", each))) {
        if (limit && isShort(limit))
          yield { at: limit, what: `an answer by HTTPRoute ${name} may take ${limit.text}` };
      }
    }
  }
  for (const { spec, name } of setup.objectsOf("BackendTrafficPolicy")) {
    for (const limit of ["requestTimeout", "maxStreamDuration"].map((each) =>
      spec.at("timeout", "http", each),
    )) {
      if (limit && isShort(limit))
        yield { at: limit, what: `an answer by BackendTrafficPolicy ${name} may take ${limit.text}` };
    }
  }
}

export function* meshRetries(setup: Setup): Iterable<Found> {
  for (const { at, object } of virtualRoutes(setup)) {
    const retryOn = at.get("retries", "retry_on");
    const bad = (retryOn?.text ?? "").split(",").filter((each) => UNSTOPPABLE.test(each.trim()));
    if (retryOn && bad.length > 0)
      yield { at: retryOn, what: `retryOn of VirtualService ${object.name} has ${bad.join(", ")}` };
  }
  if (!setup.usesBreaker) return;
  for (const { spec, name } of setup.objectsOf("BackendTrafficPolicy")) {
    const triggers = spec.at("retry", "retryOn", "triggers");
    const codes = spec.at("retry", "retryOn", "httpStatusCodes");
    if (triggers?.items.some(({ text }) => UNSTOPPABLE.test(text ?? "")))
      yield {
        at: triggers,
        what: `triggers of BackendTrafficPolicy ${name} are ${triggers.items.map(({ text }) => text).join(", ")}`,
      };
    if (codes?.items.some(({ text }) => /^5/.test(text ?? "")))
      yield {
        at: codes,
        what: `BackendTrafficPolicy ${name} retries ${codes.items.map(({ text }) => text).join(", ")}`,
      };
  }
  for (const { spec, name } of setup.objectsOf("HTTPRoute")) {
    for (const rule of spec.list("rules")) {
      const codes = rule.at("retry", "codes");
      if (codes?.items.some(({ text }) => /^5/.test(text ?? "")))
        yield {
          at: codes,
          what: `HTTPRoute ${name} retries ${codes.items.map(({ text }) => text).join(", ")}`,
        };
    }
  }
}

export function* meshMirrors(setup: Setup): Iterable<Found> {
  for (const { at, object } of virtualRoutes(setup)) {
    const mirror = at.get("mirror") ?? at.get("mirrors");
    if (mirror) yield { at: mirror, what: `requests by VirtualService ${object.name} are mirrored` };
  }
  if (!setup.usesBreaker) return;
  for (const { spec, name } of setup.objectsOf("HTTPRoute")) {
    for (const filter of spec.list("rules").flatMap((rule) => rule.list("filters"))) {
      if (filter.at("type")?.text === "RequestMirror")
        yield { at: filter, what: `requests by HTTPRoute ${name} are mirrored` };
    }
  }
}

/** DestinationRules and the like of backends. */
function* trafficPolicies(setup: Setup): Iterable<{ readonly name: string; readonly policy: Located }> {
  const hosts = backendHosts(setup);
  for (const { spec, name } of setup.objectsOf("DestinationRule")) {
    if (!hosts.some((host) => sameHost(spec.at("host")?.text ?? "", host))) continue;
    for (const policy of [
      spec.at("trafficPolicy"),
      ...spec.list("subsets").map((each) => each.at("trafficPolicy")),
    ]) {
      if (policy) yield { name: `DestinationRule ${name}`, policy };
    }
  }
}

export function* meshMaxRetries(setup: Setup): Iterable<Found> {
  for (const { name, policy } of trafficPolicies(setup)) {
    const limit = policy.at("connectionPool", "http", "maxRetries");
    if (limit?.text && Number(limit.text) > 0 && Number(limit.text) < WIDE)
      yield { at: limit, what: `maxRetries of ${name} is ${limit.text}` };
  }
  if (!setup.usesBreaker) return;
  for (const { spec, name } of setup.objectsOf("BackendTrafficPolicy")) {
    const limit = spec.at("circuitBreaker", "maxParallelRetries");
    if (limit?.text && Number(limit.text) < WIDE)
      yield { at: limit, what: `maxParallelRetries of BackendTrafficPolicy ${name} is ${limit.text}` };
  }
}

export function* meshEjections(setup: Setup): Iterable<Found> {
  const waits = setup.policies.flatMap(({ backends }) => [...backends.values()].map(({ waitMs }) => waitMs));
  const waitMs = Math.min(...waits, 5000);
  for (const { name, policy } of trafficPolicies(setup)) {
    const detection = policy.at("outlierDetection");
    if (detection && (detection.millisecondsOf("baseEjectionTime") ?? 30_000) > waitMs) {
      yield {
        at: detection,
        what: `${name} ejects a host for ${detection.textOf("baseEjectionTime") ?? "30 s, Istio's default"}`,
      };
    }
  }
  if (!setup.usesBreaker) return;
  for (const { spec, name } of setup.objectsOf("BackendTrafficPolicy")) {
    const passive = spec.at("healthCheck", "passive");
    if (passive && (passive.millisecondsOf("baseEjectionTime") ?? 30_000) > waitMs)
      yield {
        at: passive,
        what: `BackendTrafficPolicy ${name} ejects a host for ${passive.textOf("baseEjectionTime") ?? "30 s"}`,
      };
  }
}

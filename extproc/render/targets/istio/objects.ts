import { DEFAULT_CA_FILE } from "../../backend-fields.js";
import type { Plan } from "../../plan.js";
import { commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { writeDocument } from "../../yaml/writer.js";
import { objectName } from "../mesh/object-name.js";
import { firstTier, plannedRoutes } from "../mesh/routes.js";
import { routeName } from "./routes.js";
import type { IstioSettings } from "./settings.js";
import type { Tier } from "./tiers.js";

const NETWORKING = "networking.istio.io/v1";

/** What Istio has to know of backends outside of the cluster, and of the service. */
export function registryObjects(
  plan: Plan,
  tiers: readonly Tier[],
  settings: IstioSettings,
): readonly string[] {
  const hosts = new Map<string, Tier[]>();
  for (const tier of tiers.filter(({ isExternal }) => isExternal)) {
    hosts.set(tier.host, [...(hosts.get(tier.host) ?? []), tier]);
  }
  const external = [...hosts.values()].flatMap((same) => externalObjects(same, settings));
  return plan.service ? [...external, serviceRule(settings)] : external;
}

function externalObjects(tiers: readonly Tier[], settings: IstioSettings): readonly string[] {
  const [tier] = tiers;
  const url = tier?.backend.url;
  if (tier === undefined || url === undefined) return [];
  const { host } = tier;
  const metadata = { name: objectName(["llm-breaker", host]), namespace: settings.namespace };
  const ports = uniquePorts(tiers).map(({ port, backend }) => ({
    number: port,
    name: `${backend.isHttp2 ? "http2" : "http"}-${port}`,
    protocol: backend.isHttp2 ? "HTTP2" : "HTTP",
    targetPort: backend.url?.port === port ? undefined : backend.url?.port,
  }));
  const entry = {
    apiVersion: NETWORKING,
    kind: "ServiceEntry",
    metadata,
    spec: {
      hosts: [host],
      location: "MESH_EXTERNAL",
      ports,
      resolution: url.isAddress ? "STATIC" : "DNS",
      endpoints: url.isAddress ? [{ address: url.host }] : undefined,
    },
  };
  const aliases = tiers.map(({ backend }) => backend.alias).join(", ");
  const entryText = writeDocument(`Backend ${aliases}: a server outside of the cluster.`, entry);
  return url.isTls ? [entryText, writeDocument("", tlsRule(tiers, metadata))] : [entryText];
}

function uniquePorts(tiers: readonly Tier[]): readonly Tier[] {
  return [...new Map(tiers.map((tier) => [tier.port, tier])).values()];
}

function tlsRule(tiers: readonly Tier[], metadata: YamlMap): YamlValue {
  const [tier] = tiers;
  const host = tier?.host ?? "";
  const url = tier?.backend.url;
  const isAddress = url?.isAddress === true;
  const tls = {
    mode: "SIMPLE",
    // Without it, those of the proxy's own system.
    caCertificates: url?.caFile === DEFAULT_CA_FILE ? undefined : url?.caFile,
    sni: isAddress
      ? undefined
      : commented(
          "TRAP: stated, since a tier's request still has its caller's own host when TLS begins.",
          host,
        ),
    subjectAltNames: [isAddress ? url.host : host],
  };
  return {
    apiVersion: NETWORKING,
    kind: "DestinationRule",
    metadata,
    spec: {
      host,
      trafficPolicy: {
        portLevelSettings: uniquePorts(tiers).map(({ port }) => ({ port: { number: port }, tls })),
      },
    },
  };
}

function serviceRule({ namespace, serviceHost }: IstioSettings): string {
  return writeDocument("The service (envoy/kubernetes has it as a Deployment).", {
    apiVersion: NETWORKING,
    kind: "DestinationRule",
    metadata: { name: "llm-breaker", namespace },
    spec: {
      host: serviceHost,
      trafficPolicy: {
        connectionPool: {
          http: {
            maxRequestsPerConnection: commented(
              "TRAP: Envoy resets each stream to end it, and Node before 22.11 takes more than 1000 resets for an attack.",
              500,
            ),
          },
          tcp: { tcpKeepalive: { time: "10s", interval: "10s", probes: 3 } },
        },
      },
    },
  });
}

/** The user's own, as an example that is off. */
export function exampleRoute(plan: Plan, tiers: readonly Tier[], settings: IstioSettings): string {
  const http = plannedRoutes(plan).map((route) => {
    const tier = tiers.find(({ backend }) => backend.alias === firstTier(route));
    return {
      name: routeName(route, settings),
      match: [{ uri: { prefix: route.prefix ?? "/" } }],
      route: [{ destination: { host: tier?.host ?? "", port: { number: tier?.port ?? 80 } } }],
    };
  });
  const isGateway = settings.context === "GATEWAY";
  const example = writeDocument("", {
    apiVersion: NETWORKING,
    kind: "VirtualService",
    metadata: { name: objectName(["llm", plan.name]), namespace: settings.namespace },
    spec: {
      hosts: isGateway
        ? ["llm.example.com"]
        : [...new Set(http.map(({ route }) => route[0]?.destination.host ?? ""))],
      gateways: isGateway ? ["llm-gateway"] : undefined,
      http,
    },
  });
  const commentedOut = example.trimEnd().replaceAll(/^/gm, "# ");
  return `# Yours, if you have none yet: the patches above look for routes of these names.\n#\n${commentedOut}\n`;
}

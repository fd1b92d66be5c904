import { CliError } from "../../../cli-error.js";
import type { Plan } from "../../plan.js";
import type { Rendered, Target, TargetValues } from "../../target.js";
import { commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { hashed, writeDocument, writeDocuments } from "../../yaml/writer.js";
import { plannedRoutes } from "../mesh/routes.js";
import { patchesFor } from "./patches.js";
import { GATEWAY_OPTIONS, type GatewaySettings, gatewaySettings } from "./settings.js";
import { type GatewayTier, gatewayTiers, routeObjectName } from "./tiers.js";

const HELP = `  --gateway-version 1.9  of Envoy Gateway; before 1.9 nothing is failed over in flight
  --gateway NS/NAME      the Gateway; default llm/llm-gateway
  --listener NAME        its listener; default http
  --hostname HOST        of the HTTPRoute
  --namespace llm        of the Gateway, where --gateway is not given
  --service-host HOST    default llm-breaker.<namespace>.svc.cluster.local
  --wasm FOLDER          of the modules in the proxies; default /var/lib/llm-breaker`;

export const envoyGatewayTarget: Target = {
  name: "envoy-gateway",
  help: HELP,
  options: GATEWAY_OPTIONS,
  write,
};

/** A header that routes without one of their own ask for; no caller comes to them. */
const NOBODYS_HEADER = "x-llm-breaker-tier";

function write(plan: Plan, values: TargetValues): Rendered {
  const settings = gatewaySettings(plan, values);
  const [first, ...others] = plannedRoutes(plan);
  if (first === undefined || others.length > 0) {
    throw new CliError(
      2,
      "chains with a prefix can't be written for Envoy Gateway: choose by `models`, or render a Gateway each",
    );
  }
  const tiers = gatewayTiers(plan, settings);
  const documents = [proxy(settings), httpRoute(plan, tiers, settings), patchPolicy(plan, tiers, settings)];
  const header =
    hashed(`LLM circuit breaker for Envoy Gateway 1.${settings.minor}, written by \`llm-breaker render\`: change the policy, and render again.
Loaded by Envoy out of patches applied as Envoy Gateway does; not run in a cluster. Needs \`extensionApis: { enableEnvoyPatchPolicy: true }\` in Envoy Gateway's own configuration.`);
  return {
    text: `${header}\n${writeDocuments(documents.map((each) => writeDocument("", each)))}`,
    notes: notesFor(plan, settings),
  };
}

function proxy({ namespace, wasmFolder }: GatewaySettings): YamlMap {
  const volume = { name: "llm-breaker", image: { reference: "REGISTRY/llm-breaker-wasm:VERSION" } };
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyProxy",
    metadata: { name: "llm-breaker", namespace },
    spec: {
      provider: {
        type: "Kubernetes",
        kubernetes: {
          envoyDeployment: {
            pod: {
              volumes: [
                commented(
                  "An image volume (Kubernetes 1.33 and later); before that an emptyDir with an init container, as in envoy/kubernetes. Name this " +
                    "object in the Gateway's infrastructure.parametersRef.",
                  volume,
                ),
              ],
            },
            container: { volumeMounts: [{ name: "llm-breaker", mountPath: wasmFolder, readOnly: true }] },
          },
        },
      },
    },
  };
}

function httpRoute(plan: Plan, tiers: readonly GatewayTier[], settings: GatewaySettings): YamlMap {
  const { namespace, gateway, listener, hostname } = settings;
  const rules = tiers.flatMap(({ backend, inCluster }) => {
    if (inCluster === undefined) return [];
    const { service, rule } = inCluster;
    const header = { name: NOBODYS_HEADER, value: backend.alias };
    const match = { path: { type: "PathPrefix", value: "/" }, headers: rule === 0 ? undefined : [header] };
    const isElsewhere = service.namespace !== namespace;
    const backendRef = {
      name: service.name,
      namespace: isElsewhere ? service.namespace : undefined,
      port: service.port,
    };
    return [{ matches: [match], backendRefs: [backendRef] }];
  });
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: routeObjectName(plan), namespace },
    spec: {
      parentRefs: [{ name: gateway, sectionName: listener }],
      hostnames: hostname === undefined ? undefined : [hostname],
      rules: commented(
        "One rule a backend: all that a rule names becomes one cluster. The patches take the later ones' routes away again.",
        rules,
      ),
    },
  };
}

function patchPolicy(plan: Plan, tiers: readonly GatewayTier[], settings: GatewaySettings): YamlValue {
  const { namespace, gateway } = settings;
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyPatchPolicy",
    metadata: { name: routeObjectName(plan), namespace },
    spec: {
      targetRef: { group: "gateway.networking.k8s.io", kind: "Gateway", name: gateway },
      type: "JSONPatch",
      jsonPatches: patchesFor(plan, tiers, settings),
    },
  };
}

function notesFor(plan: Plan, settings: GatewaySettings): readonly string[] {
  const notes = [
    "Not run in a cluster: the patches' status tells whether each was applied (kubectl get envoypatchpolicy).",
    `The modules have to be in ${settings.wasmFolder} of the proxies: the EnvoyProxy mounts them, once the Gateway names it.`,
  ];
  if (!settings.canChangeCluster) {
    notes.push(
      "Envoy Gateway before 1.9: no failover of requests in flight; tiers change at admission, once a backend is Open.",
    );
  }
  if (plan.service)
    notes.push(
      `The service has to be ${settings.serviceHost}: --target kubernetes --service only writes it.`,
    );
  if (plan.backends.some(({ credential }) => credential !== undefined)) {
    notes.push("Keys: mount their Secret into the proxies by the EnvoyProxy, too.");
  }
  return notes;
}

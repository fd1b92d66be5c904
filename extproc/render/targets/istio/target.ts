import type { Plan } from "../../plan.js";
import type { Rendered, Target, TargetValues } from "../../target.js";
import type { YamlMap } from "../../yaml/value.js";
import { hashed, writeDocument, writeDocuments } from "../../yaml/writer.js";
import { objectName } from "../mesh/object-name.js";
import { clusterPatches } from "./clusters.js";
import { filterPatches } from "./filters.js";
import { notesFor } from "./notes.js";
import { exampleRoute, registryObjects } from "./objects.js";
import { routePatches } from "./routes.js";
import { ISTIO_OPTIONS, type IstioSettings, istioSettings } from "./settings.js";
import { type Tier, tiersOf } from "./tiers.js";

const HELP = `  --istio-version 1.31   oldest proxy it is for: 1.31 and later fail over in flight; 1.28 to 1.30 at admission only
  --context gateway|sidecar
  --namespace llm        where the objects go, and where short host names are
  --selector K=V,K=V     labels of the proxies; default istio=llm-gateway
  --gateway NAME         in its place: a Gateway of the Gateway API
  --route NAME           the VirtualService's http[].name, or <namespace>.<name>.<rule> of an HTTPRoute; default llm-<policy>
  --port PORT            only listeners of this port; state it for sidecars
  --inference-pool BACKEND=POOL   a backend that is an InferencePool
  --tier-routes          a route for each tier in place of the matcher, on any version
  --service-host HOST    default llm-breaker.<namespace>.svc.cluster.local
  --wasm FOLDER          of the modules in the proxies; default /var/lib/llm-breaker
  --anchor FILTER        the filter that ours stand before; default istio.alpn`;

export const istioTarget: Target = { name: "istio", help: HELP, options: ISTIO_OPTIONS, write };

function write(plan: Plan, values: TargetValues): Rendered {
  const settings = istioSettings(plan, values);
  const tiers = tiersOf(plan, settings);
  const documents = [
    `${hashed(headerOf(settings))}\n${writeDocument("", envoyFilter(plan, tiers, settings))}`,
    ...registryObjects(plan, tiers, settings),
    exampleRoute(plan, tiers, settings),
  ];
  return { text: writeDocuments(documents), notes: notesFor(plan, tiers, settings) };
}

function envoyFilter(plan: Plan, tiers: readonly Tier[], settings: IstioSettings): YamlMap {
  const { selector, gateway, namespace } = settings;
  const hosts = new Set([...tiers.map(({ host }) => host), ...(plan.service ? [settings.serviceHost] : [])]);
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: {
      name: objectName(["llm-breaker", plan.name]),
      namespace,
      annotations: {
        "envoyfilter.istio.io/referenced-services": [...hosts]
          .map((host) => `${namespaceOf(host, namespace)}/${host}`)
          .join(","),
      },
    },
    spec: {
      workloadSelector: selector && { labels: selector },
      targetRefs:
        gateway === undefined
          ? undefined
          : [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: gateway }],
      configPatches: [
        ...filterPatches(plan, tiers, settings),
        ...clusterPatches(plan, tiers, settings),
        ...routePatches(plan, tiers, settings),
      ],
    },
  };
}

function namespaceOf(host: string, namespace: string): string {
  return /^[^.]+\.([^.]+)\.svc\.cluster\.local$/.exec(host)?.[1] ?? namespace;
}

function headerOf({ minor, wasmFolder, context }: IstioSettings): string {
  const volume = context === "GATEWAY" ? GATEWAY_VOLUME : SIDECAR_VOLUME;
  return `LLM circuit breaker for Istio 1.${minor} and later, written by \`llm-breaker render\`: change the policy, and render again.

The modules are files in the proxies' own ${wasmFolder}. TRAP: not an OCI URL: while a registry is away Istio's agent puts a filter that denies ALL requests in the place of a module it can't fetch. ${volume.replaceAll("FOLDER", wasmFolder)}

(Kubernetes before 1.33: an emptyDir that an init container fills, as in envoy/kubernetes.)`;
}

const GATEWAY_VOLUME = `In the gateway's own Deployment (of a Gateway of the Gateway API: under \`deployment\` of the ConfigMap that its infrastructure.parametersRef names):

  spec: { template: { spec: {
    volumes: [{ name: llm-breaker, image: { reference: REGISTRY/llm-breaker-wasm:VERSION } }],
    containers: [{ name: istio-proxy, volumeMounts: [{ name: llm-breaker, mountPath: FOLDER, readOnly: true }] }] } } }`;

const SIDECAR_VOLUME = `By annotations of the pods that call models:

  sidecar.istio.io/userVolume: '[{"name":"llm-breaker","image":{"reference":"REGISTRY/llm-breaker-wasm:VERSION"}}]'
  sidecar.istio.io/userVolumeMount: '[{"name":"llm-breaker","mountPath":"FOLDER","readOnly":true}]'`;

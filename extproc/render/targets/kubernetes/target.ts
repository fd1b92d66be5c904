import type { Plan } from "../../plan.js";
import type { Rendered, Target, TargetValues } from "../../target.js";
import { hashed, writeDocument, writeDocuments } from "../../yaml/writer.js";
import { gatewayObjects, serviceObjects } from "./objects.js";
import { KUBERNETES_OPTIONS, type KubernetesSettings, kubernetesSettings } from "./settings.js";

const HELP = `  An Envoy of its own in front of the models, on any mesh or none.
  --namespace llm
  --service sidecar|shared|only   the service beside each Envoy, one for all, or that one without an Envoy
  --image IMAGE          of the service, which has the modules, too
  --envoy-image IMAGE
  --replicas 2`;

export const kubernetesTarget: Target = {
  name: "kubernetes",
  help: HELP,
  options: KUBERNETES_OPTIONS,
  write,
};

function write(plan: Plan, values: TargetValues): Rendered {
  const settings = kubernetesSettings(plan, values);
  const gateway = settings.mode === "only" ? [] : gatewayObjects(plan, settings);
  const isShared = settings.mode === "only" || (settings.mode === "shared" && plan.service !== undefined);
  const objects = [...gateway, ...(isShared ? serviceObjects(settings) : [])];
  const header = hashed(
    `The breaker "${plan.name}" as an Envoy of its own, written by \`llm-breaker render\`: change the policy, and render again.\n` +
      `Callers go to http://${settings.name}.${settings.namespace}; a mesh carries what is between.`,
  );
  return {
    text: `${header}\n${writeDocuments(objects.map((each) => writeDocument("", each)))}`,
    notes: notesFor(plan, settings),
  };
}

function notesFor(plan: Plan, settings: KubernetesSettings): readonly string[] {
  const notes = [
    "In a mesh switch its retries off on the way here (VirtualService `retries: { attempts: 0 }`), or attempts multiply.",
    "preStop `sleep` needs Kubernetes 1.30 or later.",
  ];
  if (settings.image.startsWith("REGISTRY/")) {
    notes.push("--image: build the service's image and name it (docker/service.Dockerfile).");
  }
  if (settings.keyFolders.length > 0) {
    notes.push(`Keys: the Secret ${settings.name}-keys is yours to make; the file says how.`);
  }
  if (plan.service === undefined && settings.mode === "sidecar") {
    notes.push(
      "The policy needs no service, so none is written: without it there is no page, and each Envoy stands alone.",
    );
  }
  if (plan.service !== undefined && settings.mode === "sidecar" && settings.replicas > 1) {
    notes.push(
      "Each Envoy decides by its own evidence: `peers` in the service's settings makes the pods one group.",
    );
  }
  return notes;
}

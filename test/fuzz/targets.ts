import type { Target } from "./target.js";

/** Each is loaded by the thread that runs it, since some bring much along. */
const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  "filter-stream": async () => (await import("./targets/filter-answer.js")).filterStream,
  "filter-answer": async () => (await import("./targets/filter-answer.js")).filterAnswer,
  "filter-proto": async () => (await import("./targets/filter-messages.js")).filterProto,
  "filter-directive": async () => (await import("./targets/filter-messages.js")).filterDirective,
  "filter-policy-json": async () => (await import("./targets/filter-messages.js")).filterPolicyJson,
  "filter-policy": async () => (await import("./targets/filter-messages.js")).filterPolicy,
  "filter-request": async () => (await import("./targets/filter-request.js")).filterRequest,
  "filter-sse": async () => (await import("./targets/filter-sse.js")).filterSse,
  "filter-errors": async () => (await import("./targets/filter-texts.js")).filterErrors,
  "filter-load-header": async () => (await import("./targets/filter-texts.js")).filterLoad,
  "filter-glob": async () => (await import("./targets/filter-texts.js")).filterGlob,
  "filter-body-rules": async () => (await import("./targets/filter-texts.js")).filterRules,
  "filter-path": async () => (await import("./targets/filter-texts.js")).filterPath,
  "filter-json-text": async () => (await import("./targets/filter-texts.js")).filterJsonText,
  "filter-pairs": async () => (await import("./targets/filter-texts.js")).filterPairs,
  "service-events": async () => (await import("./targets/service-answers.js")).serviceEvents,
  "service-message": async () => (await import("./targets/service-answers.js")).serviceMessage,
  "service-stream": async () => (await import("./targets/service-answers.js")).serviceStream,
  "service-translate": async () => (await import("./targets/service-answers.js")).serviceTranslate,
  "service-remember": async () => (await import("./targets/service-answers.js")).serviceRemember,
  "service-model-editor": async () => (await import("./targets/service-answers.js")).serviceModelEditor,
  "service-body": async () => (await import("./targets/service-bodies.js")).serviceBody,
  "service-top-level": async () => (await import("./targets/service-bodies.js")).serviceTopLevel,
  "service-rewrite": async () => (await import("./targets/service-bodies.js")).serviceRewrite,
  "service-chat-template": async () =>
    (await import("./targets/service-chat-template.js")).serviceChatTemplate,
  "service-codings": async () => (await import("./targets/service-codings.js")).serviceCodings,
  "service-zstd": async () => (await import("./targets/service-codings.js")).serviceZstd,
  "service-config": async () => (await import("./targets/service-config.js")).serviceConfig,
  "service-settings": async () => (await import("./targets/service-config.js")).serviceSettings,
  "service-check-yaml": async () => (await import("./targets/service-config.js")).serviceCheckYaml,
  "service-render-policy": async () => (await import("./targets/service-config.js")).serviceRender,
  "service-policy": async () => (await import("./targets/service-config.js")).servicePolicy,
  "service-check": async () => (await import("./targets/service-config.js")).serviceCheck,
  "service-check-json": async () => (await import("./targets/service-config.js")).serviceCheckJson,
  "service-control": async () => (await import("./targets/service-control.js")).serviceControl,
  "service-metrics-page": async () => (await import("./targets/service-texts.js")).serviceMetrics,
  "service-headers": async () => (await import("./targets/service-texts.js")).serviceHeaders,
  "service-metadata-text": async () => (await import("./targets/service-texts.js")).serviceMetadata,
  "service-headers-file": async () => (await import("./targets/service-texts.js")).serviceHeadersFile,
  "service-processing": async () => (await import("./targets/service-wire.js")).serviceProcessing,
  "service-framing": async () => (await import("./targets/service-wire.js")).serviceFraming,
  "service-sync": async () => (await import("./targets/service-wire.js")).serviceSync,
  "service-gossip": async () => (await import("./targets/service-wire.js")).serviceGossip,
  "service-seal": async () => (await import("./targets/service-wire.js")).serviceSeal,
  "service-keys": async () => (await import("./targets/service-wire.js")).serviceKeys,
  "service-access-log": async () => (await import("./targets/service-wire.js")).serviceAccessLog,
  "service-states": async () => (await import("./targets/service-states.js")).serviceStates,
  "wasm-traffic": async () => (await import("./targets/wasm-traffic.js")).wasmTraffic,
};

export const targetNames: readonly string[] = Object.keys(TARGETS);

export async function targetNamed(name: string): Promise<Target> {
  const load = TARGETS[name];
  if (load === undefined) throw new Error(`no target ${name}`);
  return load();
}

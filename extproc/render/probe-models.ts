import { mapOf } from "./policy-text.js";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Which model a probe names where the file says nothing of probes: the first that callers name to the backend. One that has a name of its
 * own for its model gets that by the service.
 */
export function probeModels(file: Fields): {
  probeModel: string | undefined;
  ownProbeModel: (alias: string) => string | undefined;
} {
  const chains = Object.values(mapOf(file.chains)).map(mapOf);
  const shared = mapOf(file.breaker).probe === undefined ? chains.flatMap(modelsOf)[0] : undefined;
  return {
    probeModel: shared,
    ownProbeModel(alias) {
      const { model, breaker } = mapOf(mapOf(file.backends)[alias]);
      if (shared === undefined || model !== undefined || mapOf(breaker).probe !== undefined) return undefined;
      const asked = chains
        .filter(({ tiers }) => Array.isArray(tiers) && tiers.includes(alias))
        .flatMap(modelsOf);
      return asked.includes(shared) ? undefined : asked[0];
    },
  };
}

function modelsOf({ models }: Fields): string[] {
  if (!Array.isArray(models)) return [];
  return models.filter(
    (model): model is string => typeof model === "string" && model !== "" && !model.includes("*"),
  );
}

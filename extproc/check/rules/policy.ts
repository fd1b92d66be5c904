import type { Rule } from "./rule.js";

export const policyRules: readonly Rule[] = [
  {
    id: "policy-refused",
    level: "error",
    harm: "Envoy does not start with it; on a push the old policy goes on",
    fix: "docs/configuration.md has every field, its default and its bounds",
    *find(setup) {
      for (const policy of setup.policies) {
        for (const fault of policy.faults) {
          yield { at: policy.placeOf(fault), what: fault };
        }
      }
    },
  },
  {
    id: "policy-missing",
    level: "error",
    harm: "Envoy does not start: the gate has no policy",
    fix: "configuration: { \"@type\": type.googleapis.com/google.protobuf.StringValue, value: '{…}' }",
    *find(setup) {
      for (const { plugin, name, isDiscovered } of setup.filtersOfRole("gate")) {
        if (plugin && !plugin.get("configuration") && !isDiscovered)
          yield { at: plugin, what: `${name} has no configuration` };
      }
    },
  },
  {
    id: "watched-directory",
    level: "warning",
    harm: "a ConfigMap that is changed is not seen: the file itself is a link that stays as it is",
    fix: "watched_directory: { path: … } beside the path, the folder in which the file is mounted",
    *find(setup) {
      for (const { at, name } of setup.filtersOfRole("gate")) {
        const source = at.get("config_discovery", "config_source", "path_config_source");
        if (source && !source.get("watched_directory"))
          yield { at: source, what: `the file of ${name} is watched by itself` };
      }
    },
  },
  {
    id: "policy-names",
    level: "error",
    harm: "they are one record in the process: the one that is read last holds for both",
    fix: "another name for each policy of one Envoy",
    *find(setup) {
      const seen = new Set<string>();
      for (const { name, root, at } of setup.policies) {
        if (seen.has(name)) yield { at: root.at("name") ?? at, what: `two policies are called ${name}` };
        seen.add(name);
      }
    },
  },
  {
    id: "attempts-below-tiers",
    level: "warning",
    harm: "the last tiers may never be asked",
    fix: "maxAttempts at least tiers + sameTierRetries, and num_retries with it",
    *find(setup) {
      for (const { name, at, tiers, maxAttempts, sameTierRetries, isFixed } of setup.chains) {
        const needed = tiers.length + sameTierRetries;
        if (maxAttempts > 1 && maxAttempts < needed && !isFixed)
          yield {
            at: at.at("maxAttempts") ?? at,
            what: `chain ${name} may try ${maxAttempts} times and has ${tiers.length} tiers`,
          };
      }
    },
  },
  {
    id: "limits-never-settled",
    level: "error",
    harm: "callers' reservations never become their real usage: limits hold too early",
    fix: "the access log llm.breaker.usage of envoy/full.yaml on the connection manager",
    *find(setup) {
      const limited = setup.chains.find(({ hasLimits }) => hasLimits);
      if (limited === undefined) return;
      for (const { at, isPart } of setup.gated) {
        const isLogged = at
          .list("access_log")
          .some((log) =>
            log
              .list("typed_config", "common_config", "filter_state_objects_to_log")
              .some(({ text }) => text === "wasm.llm.breaker.usage"),
          );
        if (!isLogged && !isPart)
          yield {
            at,
            what: `chain ${limited.name} has limits, and no access log tells the service of the usage`,
          };
      }
    },
  },
  {
    id: "cached-without-remember",
    level: "error",
    harm: "no answer is ever remembered: exhausted chains answer by the JSON error",
    fix: "llm.breaker.remember, turned on for the route by typed_per_filter_config",
    *find(setup) {
      const cached = setup.chains.find(({ exhausted }) => exhausted === "cached");
      if (cached === undefined || setup.routes.length === 0) return;
      for (const route of setup.routes) {
        const filter = setup.filtersOfRole("remember")[0];
        const isOn =
          filter &&
          (!filter.isDisabled ||
            [route.at, route.host, route.table].some((each) =>
              each?.get("typed_per_filter_config")?.at(filter.name),
            ));
        if (!isOn && setup.chainsOf(route).some(({ exhausted }) => exhausted === "cached"))
          yield {
            at: route.at,
            what: `chain ${cached.name} answers from memory, and nothing looks on at its route`,
          };
      }
    },
  },
  {
    id: "route-class",
    level: "warning",
    harm: "such requests have the limits of all others, and are never shed",
    fix: "a class of the service's limits.classes or of the policy's shedClasses",
    *find(setup) {
      const service = setup.serviceFiles[0];
      if (service === undefined || setup.policies.length === 0) return;
      const known = [
        ...setup.policies.flatMap(({ shedClasses }) => shedClasses),
        ...(service.at("limits", "classes")?.fields.keys() ?? []),
      ];
      for (const { routeClass, name } of setup.routes) {
        if (routeClass?.text && !known.includes(routeClass.text))
          yield {
            at: routeClass,
            what: `route ${name} has class ${routeClass.text}, and known are ${known.join(", ")}`,
          };
      }
    },
  },
];

import assert from "node:assert/strict";
import { neverOpen, type Rig, type RigSettings, startRig } from "../../e2e/support/rig.js";
import { chainOf, connectionManager } from "../../e2e/support/shipped-config.js";
import type { Answer } from "../../support/client.js";

const FACTS_HEADER = "x-facts";

/** A rig whose every POST is counted, as where callers have limits, and whose answers tell what was found. */
export async function startCounted(settings: RigSettings = {}): Promise<Rig> {
  return startRig({
    ...settings,
    serviceConfig: {
      // A slow machine is to wait for the exact count.
      tokens: { timeLimit: "900ms" },
      ...settings.serviceConfig,
      limits: {},
      callers: { anonymous: "unlimited" },
    },
    policy: (policy) => {
      neverOpen(policy);
      for (const backend of Object.values(policy.backends)) delete backend.contextWindow;
      chainOf(policy).limits = true;
      settings.policy?.(policy);
    },
    patch: (config) => {
      Object.assign(connectionManager(config).route_config, {
        response_headers_to_add: [
          { header: { key: FACTS_HEADER, value: "%DYNAMIC_METADATA(llm.breaker)%" } },
        ],
      });
      settings.patch?.(config);
    },
  });
}

/** What the service found out about the request. */
export function factsOf(answer: Answer): Record<string, unknown> {
  return JSON.parse(String(answer.headers[FACTS_HEADER] ?? "{}")) as Record<string, unknown>;
}

/** The request arrived at the first tier, once, byte for byte. */
export function assertUnchanged(rig: Rig, answer: Answer, sha256: string): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(rig.gpu.arrivals.length, 1);
  assert.equal(rig.gpu.arrivals[0]?.bodySha256, sha256);
}

/** The service is the process that was started, and said nothing of trouble. */
export function assertServiceWell(rig: Rig): void {
  assert.equal(rig.service?.exit, undefined);
  assert.deepEqual(rig.service?.log.matching(/"level":"(warn|error|fatal)"/), []);
}

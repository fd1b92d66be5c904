import { BreakerConfig, Stage } from "../breaker/config";
import { MAX_BUCKETS, MAX_PERMITS } from "../breaker/record";
import { Text } from "../host/text";
import { Fields, HOUR_MS } from "./fields";
import { stringify } from "./json";
import { parseOutcomes } from "./parse-outcomes";
import { parseTriggers } from "./parse-triggers";
import { Backend, Canary, Probe } from "./policy";

const DEFAULT_PROBE_BODY = '{"messages":[{"role":"user","content":"hi"}],"max_tokens":1}';
/** In the order of `Mode`. */
const MODES: string[] = ["enforce", "shadow", "disabled", "forcedOpen", "forcedClosed"];

/** As the policy spells it. */
export function modeName(mode: i32): string {
  return <u32>mode < <u32>MODES.length ? MODES[mode] : "unknown";
}

/** Reads breaker settings over what `backend` already has: first the shared part, then the backend's own. */
export function parseBreaker(fields: Fields, backend: Backend): void {
  const config = backend.breaker;
  config.mode = fields.choice("mode", MODES, config.mode);
  config.slidingWindowSize = fields.integer("slidingWindowSize", 1, MAX_BUCKETS, config.slidingWindowSize);
  config.minimumNumberOfCalls = fields.integer(
    "minimumNumberOfCalls",
    1,
    1000000,
    config.minimumNumberOfCalls,
  );
  parseTriggers(fields, backend);
  config.waitDurationInOpenStateMs = fields.duration(
    "waitDurationInOpenState",
    100,
    HOUR_MS,
    config.waitDurationInOpenStateMs,
  );
  config.maxWaitDurationInOpenStateMs = fields.duration(
    "maxWaitDurationInOpenState",
    100,
    HOUR_MS,
    config.maxWaitDurationInOpenStateMs,
  );
  if (config.maxWaitDurationInOpenStateMs < config.waitDurationInOpenStateMs) {
    fields.fault("maxWaitDurationInOpenState", "must not be shorter than waitDurationInOpenState");
  }
  config.backoffResetAfterMs = fields.duration("backoffResetAfter", 0, HOUR_MS, config.backoffResetAfterMs);
  config.kvCacheUseThreshold = fields.integer("kvCacheUseThreshold", 0, 100, config.kvCacheUseThreshold);
  backend.shedAboveQueueDepth = fields.integer(
    "shedAboveQueueDepth",
    0,
    1000000,
    backend.shedAboveQueueDepth,
  );
  parseOutcomes(fields, backend.rules);
  parseProbe(fields.object("probe"), backend.probe, config);
  parseCanary(fields.object("canary"), backend.canary, config);
  parseRamp(fields, config);
  fields.close();
}

function parseProbe(fields: Fields, probe: Probe, config: BreakerConfig): void {
  const path = fields.text("path", "");
  if (path.length && !path.startsWith("/")) fields.fault("path", "must start with /");
  if (path.length) probe.path = Text.of(path);
  const body = fields.find("body");
  if (body) probe.body = Text.of(stringify(body));
  else if (probe.body.length === 0) probe.body = Text.of(DEFAULT_PROBE_BODY);
  config.probeLeaseMs = fields.duration("lease", 500, HOUR_MS, config.probeLeaseMs);
  probe.firstTokenMaxMs = fields.duration("firstTokenMax", 100, HOUR_MS, probe.firstTokenMaxMs);
  if (probe.firstTokenMaxMs >= config.probeLeaseMs) {
    fields.fault("firstTokenMax", "must be shorter than lease, or a slow probe is never judged");
  }
  fields.close();
}

function parseCanary(fields: Fields, canary: Canary, config: BreakerConfig): void {
  canary.size = fields.choice("size", ["count", "estimate"], canary.size);
  canary.maxPromptTokens = fields.integer("maxPromptTokens", 1, 1000000, canary.maxPromptTokens);
  canary.maxOutputTokens = fields.integer("maxOutputTokens", 1, 1000000, canary.maxOutputTokens);
  config.canaryNoDrawAfterMs = fields.duration("noDrawAfter", 0, HOUR_MS, config.canaryNoDrawAfterMs);
  config.permitTimeoutMs = fields.duration("permitTimeout", 1000, HOUR_MS, config.permitTimeoutMs);
  canary.limits = Text.of(
    '{"maxPromptTokens":' +
      canary.maxPromptTokens.toString() +
      ',"maxOutputTokens":' +
      canary.maxOutputTokens.toString() +
      "}",
  );
  fields.close();
}

function parseRamp(fields: Fields, config: BreakerConfig): void {
  const ramp = fields.list("ramp");
  if (ramp.length === 0) return;
  if (ramp.length > 8) fields.fault("ramp", "must have at most 8 stages");
  const stages = new StaticArray<Stage>(ramp.length);
  for (let i = 0; i < ramp.length; i++) {
    const stage = new Fields(fields.name("ramp[" + i.toString() + "]"), ramp[i], fields.errors);
    const percent = stage.integer("percent", 1, 100, 5);
    const maxConcurrent = stage.integer("maxConcurrent", 1, MAX_PERMITS, 2);
    stages[i] = new Stage(percent, maxConcurrent, stage.integer("successes", 1, 1000000, 5));
    stage.close();
  }
  config.stages = stages;
}

import type { Logger } from "pino";
import type { ControlSide } from "./control-side.js";
import { CountRole } from "./count/role.js";
import { CallerLimiter } from "./limits/caller-limiter.js";
import { LimitMemory } from "./limits/limit-memory.js";
import type { Limiter } from "./limits/limiter.js";
import { loadRedis, type RedisClass } from "./redis-client.js";
import { AnswerCache } from "./remember/answer-cache.js";
import { RememberRole } from "./remember/role.js";
import { Replier } from "./reply/replier.js";
import { RewriteRole } from "./rewrite/role.js";
import type { Role } from "./role.js";
import type { ServiceConfig } from "./service-config.js";
import type { Hold, Shelf } from "./shelf.js";
import { EngineSignals } from "./signals/engine-signals.js";
import type { Advisor } from "./sync/contract.js";
import { type Admission, readAdmission } from "./sync/token.js";
import type { SignalAges } from "./telemetry/signals-metrics.js";
import { warnOnce } from "./telemetry/warn-once.js";
import { TokenCounter } from "./tokens/counter.js";
import { Families } from "./tokens/families.js";
import { VocabularyStore } from "./tokens/store.js";
import { loadTracePackages, Tracer } from "./traces/tracer.js";

/** All that one configuration gives: what streams are answered by. */
export interface Services {
  /** By the name in the gRPC metadata x-llm-breaker-role. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Undefined when nothing is limited. */
  readonly limiter: Limiter | undefined;
  /** Who has a say in what gateways are told, by this configuration. */
  readonly advisors: readonly Advisor[];
  /** How old what engines told is. */
  readonly signalAges: SignalAges;
  /** Which gateways may sync. */
  readonly admission: Admission;
  /** Undefined when nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Gives back what they hold; no stream uses them any more. */
  close(): void;
}

/**
 * Builds what a configuration asks for. What `shelf` has of the configuration before is taken over while its
 * settings are the same; `side` is what outlives them all.
 * @throws ConfigError for settings that only turn out to be wrong here, like a file that is no vocabulary.
 */
export async function buildServices(
  config: ServiceConfig,
  shelf: Shelf,
  log: Logger,
  _side: ControlSide,
): Promise<Services> {
  const hold = shelf.open();
  try {
    const { tokens, tokenizers } = config;
    const vocabularies = hold.take("vocabularies", undefined, () => {
      const store = new VocabularyStore(log);
      return { thing: store, close: () => void store.close() };
    });
    const families = await Families.load({ tokens, tokenizers }, vocabularies);
    const counter = new TokenCounter((model) => families.find(model), tokens);
    const { cache, callers } = config;
    const answers = hold.take("answers", { cache, callers }, () => ({
      thing: new AnswerCache(cache, callers),
    }));
    const redis = config.limits?.redis && (await loadRedis(["limits", "redis"]));
    const limiter = takeLimiter(config, hold, log, redis);
    const warn = warnOnce(log);
    const signals = hold.take("signals", config.signals, () => {
      const engines = new EngineSignals(config.signals, log).start();
      return { thing: engines, close: () => engines.close() };
    });
    const tracer = await takeTracer(config, hold, log);
    return {
      limiter,
      advisors: [signals],
      signalAges: () => signals.ages(),
      admission: readAdmission(config.sync),
      tracer,
      roles: new Map<string, Role>([
        [
          "count",
          new CountRole({
            counter,
            replier: new Replier(answers, warn),
            maxBodyBytes: config.maxBodyBytes,
            maxTextBytes: tokens.maxTextBytes,
            limits: limiter && { limiter, callers },
            warn,
          }),
        ],
        ["rewrite", new RewriteRole(config.maxBodyBytes, log)],
        ["remember", new RememberRole(answers, cache.maxAnswerBytes)],
      ]),
      close: () => hold.release(),
    };
  } catch (cause) {
    hold.release();
    throw cause;
  }
}

/** @throws ConfigError when OpenTelemetry's packages are not installed. */
async function takeTracer({ traces }: ServiceConfig, hold: Hold, log: Logger): Promise<Tracer | undefined> {
  if (traces === undefined) return undefined;
  const packages = await loadTracePackages();
  return hold.take("tracer", traces, () => {
    const tracer = new Tracer(packages, traces, log);
    return { thing: tracer, close: () => tracer.close() };
  });
}

/** What was counted outlives changed limits: a reload must not give everybody a new budget. */
function takeLimiter(
  { limits, callers }: ServiceConfig,
  hold: Hold,
  log: Logger,
  redis: RedisClass | undefined,
): Limiter | undefined {
  const memory = hold.take("limit memory", undefined, () => ({ thing: new LimitMemory() }));
  if (limits === undefined) return undefined;
  return hold.take("limiter", { limits, anonymous: callers.anonymous }, () => {
    const limiter = new CallerLimiter(limits, callers.anonymous, memory, log, redis);
    return { thing: limiter, close: () => limiter.close() };
  });
}

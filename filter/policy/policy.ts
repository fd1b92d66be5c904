import { BreakerConfig, Mode } from "../breaker/config";
import { Text } from "../host/text";
import { BackendMetrics } from "./backend-metrics";
import { CallCount, callCountOf } from "./call-count";
import { ChainMetrics } from "./chain-metrics";
import { Directive } from "./directive";
import { exhaustedBody, shedBody } from "./error-body";
import { LoadFacts, loadFactsOf } from "./load-facts";
import { ModelPattern } from "./model-pattern";
import { OutcomeRules } from "./outcome-rules";

/** Tiers a chain can have: a request's visited tiers are bits of one byte. */
export const MAX_TIERS: i32 = 8;

export enum CanarySize {
  COUNT,
  ESTIMATE,
}

export enum Commit {
  FIRST_TOKEN,
  COMPLETE,
}

/** What a request gets that no tier may answer. */
export enum Exhausted {
  REPLY,
  BYPASS,
  /** A text of the operator's, in the caller's form; the service gives it. */
  FIXED,
  /** The caller's last good answer to the same request; the service has it. */
  CACHED,
}

/** The request we send ourselves to see whether a backend answers again. */
@final
export class Probe {
  path: Text = Text.of("/v1/chat/completions");
  body: Text = Text.of("");
  firstTokenMaxMs: u32 = 8000;
}

/** What makes a user's request small enough to try a recovering backend with. Sizes in tokens. */
@final
export class Canary {
  size: CanarySize = CanarySize.COUNT;
  maxPromptTokens: i32 = 256;
  maxOutputTokens: i32 = 1024;
  /** The limits as the count service gets them. */
  limits: Text = Text.of("");
}

/** First tokens kept until they are filed; more within a quarter of a second are filed at once. */
export const FACTS_ROOM: i32 = 64;

/** What this VM has seen of a backend since its last tick: filed together, for the price of one. */
@final
export class Facts {
  /** The generation the first tokens belong to. */
  generation: u32 = 0;
  /** Calls with a first token, or its timeout. */
  calls: u32 = 0;
  slowCalls: u32 = 0;
  /** Of the latest calls those that were slow, one after another. */
  slowInARow: u32 = 0;
  /** First tokens that came, in this tick or to calls that were filed as slow before. */
  samples: i32 = 0;
  /** Milliseconds each, as they would be for a short prompt. */
  readonly firstTokens: StaticArray<u32> = new StaticArray<u32>(FACTS_ROOM);
  /** Milliseconds each, as they were. */
  readonly waits: StaticArray<u32> = new StaticArray<u32>(FACTS_ROOM);
  /** Millionths of the currency. */
  spend: f64 = 0;
  /** Answers that went well, of no canary; and the generation that they belong to. */
  successes: u32 = 0;
  successGeneration: u32 = 0;
}

@final
export class Backend {
  readonly aliasText: Text;
  readonly recordKey: Text;
  readonly trendKey: Text;
  readonly directiveKey: Text;
  readonly calls: CallCount;
  cluster: Text;
  breaker: BreakerConfig = new BreakerConfig();
  probe: Probe = new Probe();
  canary: Canary = new Canary();
  metrics: BackendMetrics = new BackendMetrics();
  /**
   * Until then the backend is known to be Open: an opening ends by its probe, and no probe is sent before the wait is over.
   * Spares a refusal the look at shared data. Monotonic milliseconds; this VM's own knowledge, void when the clock went back.
   */
  refusedUntilMs: u64 = 0;
  refusedSinceMs: u64 = 0;
  /** The generation in which this VM has seen the backend Closed; 0 = it has not. */
  closedGeneration: u32 = 0;
  closedMs: u64 = 0;
  /** Tokens of prompt and answer the model can hold; 0 = not known. */
  contextWindow: i32 = 0;
  /** True when a request makes no sense there before its body was rewritten. */
  rewritesBody: bool = false;
  /** Wait for a first token, without the prompt's share; 0 = the chain's. */
  firstTokenTimeoutMs: u32 = 0;
  /** Calls in flight above which the next tier is taken; 0 = no limit. */
  maxConcurrentCalls: i32 = 0;
  /** A mean time per output token above it makes a call slow; 0 = off. */
  slowTokenTimeMs: u32 = 0;
  /** Millionths of the currency per token. */
  promptPrice: f64 = 0;
  completionPrice: f64 = 0;
  rules: OutcomeRules = new OutcomeRules();
  facts: Facts = new Facts();
  directive: Directive = new Directive();
  readonly load: LoadFacts;
  /** Requests waiting at the engine above which the policy's `shedClasses` are passed over; 0 = off. */
  shedAboveQueueDepth: i32 = 0;
  /** They are, by the last tick's look. */
  isShedding: bool = false;
  /** The policy names a service, which may have something to say. */
  isAdvised: bool = false;
  /** The policy's own mode, which holds again when an operator's is over. */
  policyMode: i32 = Mode.ENFORCE;

  constructor(readonly alias: string) {
    this.aliasText = Text.of(alias);
    this.cluster = Text.of(alias);
    this.recordKey = Text.of("llm.breaker/backend/" + alias);
    this.trendKey = Text.of("llm.breaker/trend/" + alias);
    this.directiveKey = Text.of("llm.breaker/directive/" + alias);
    this.calls = callCountOf(alias);
    this.load = loadFactsOf(alias);
  }

  isRefusedAt(now: u64): bool {
    return now < this.refusedUntilMs && now >= this.refusedSinceMs;
  }

  refuse(sinceMs: u64, untilMs: u64): void {
    this.refusedSinceMs = sinceMs;
    this.refusedUntilMs = untilMs;
  }
}

/** The ordered backends that may answer one kind of request. Durations in milliseconds. */
@final
export class Chain {
  readonly nameText: Text;
  tiers: StaticArray<Backend> = new StaticArray<Backend>(0);
  maxAttempts: i32 = 4;
  sameTierRetries: i32 = 1;
  commit: Commit = Commit.FIRST_TOKEN;
  /** The route chooses the backend by its name, which takes a second look at the route. */
  naming: bool = true;
  /** Whether the gate reads the body's `stream`, `model` and `max_tokens`. */
  peek: bool = true;
  /** Whether answers carry x-llm-breaker-backend and -attempts. */
  answerHeaders: bool = true;
  holdLimit: i32 = 262144;
  firstTokenTimeoutMs: u32 = 10000;
  firstTokenTimeoutPerPromptTokenMs: u32 = 2;
  /** In place of the two on the last tier, where nobody is left to ask; 0 = as on the others. */
  lastTierFirstTokenTimeoutMs: u32 = 0;
  answerTimeoutMs: u32 = 120000;
  stallTimeoutMs: u32 = 30000;
  attemptsDeadlineMs: u32 = 180000;
  exhausted: Exhausted = Exhausted.REPLY;
  /** Status of the error that says so, which also is the last resort where the service should answer. */
  exhaustedStatus: u32 = 503;
  /** What the service is told to answer with, as JSON; null = it is not asked. */
  exhaustedOrder: Text | null = null;
  /** The models that are meant by a route that leaves the chain to the request. */
  models: ModelPattern[] = [];
  /** Whether the service checks each caller's limits first. */
  limits: bool = false;
  /** Whether Envoy's spans are told what only the breaker knows. */
  isTraced: bool = false;
  readonly metrics: ChainMetrics = new ChainMetrics();

  /** What a caller reads when no tier may answer, and when one might but for its queue. */
  readonly exhaustedBody: Text;
  readonly shedBody: Text;

  constructor(readonly name: string) {
    this.nameText = Text.of(name);
    this.exhaustedBody = exhaustedBody(name);
    this.shedBody = shedBody(name);
  }

  /** The longest wait for a tier's first token, from the size of the prompt. */
  firstTokenLimitMs(tier: i32, promptTokens: i32): u32 {
    const forLast = this.lastTierFirstTokenTimeoutMs;
    if (forLast > 0 && tier === this.tiers.length - 1) return min(forLast, this.answerTimeoutMs);
    return this.commonLimitMs(unchecked(this.tiers[tier]), promptTokens);
  }

  private commonLimitMs(backend: Backend, promptTokens: i32): u32 {
    const tokens: u64 = promptTokens > 0 ? promptTokens : 0;
    const base = backend.firstTokenTimeoutMs > 0 ? backend.firstTokenTimeoutMs : this.firstTokenTimeoutMs;
    const limit = <u64>base + tokens * this.firstTokenTimeoutPerPromptTokenMs;
    return <u32>min<u64>(limit, this.answerTimeoutMs);
  }

  /**
   * The longest of those from a tier on: Envoy takes one limit for all attempts of a request. The last tier's own patience would keep
   * callers at a silent one before it, so it counts only where the request starts there.
   */
  longestFirstTokenLimitMs(tier: i32, promptTokens: i32): u32 {
    const first = max(tier, 0);
    let longest = this.firstTokenLimitMs(first, promptTokens);
    for (let i = first + 1; i < this.tiers.length; i++) {
      longest = max(longest, this.commonLimitMs(unchecked(this.tiers[i]), promptTokens));
    }
    return longest;
  }

  /** A chain that can try again holds answers until they are worth passing on. */
  get holds(): bool {
    return this.maxAttempts > 1;
  }
}

/** Everything the breaker is told, immutable once parsed. `hash` is its version. */
@final
export class Policy {
  backends: Backend[] = [];
  chains: Chain[] = [];
  /** The chain of every request, whatever its route; -1 = each route names its own, or the model does. */
  onlyChain: i32 = -1;
  /** The model of every request decides upon its chain, whatever its route. */
  goesByModel: bool = false;
  /** The chain of requests whose model no chain names, where the chain goes by the model; -1 = they are refused. */
  defaultChain: i32 = -1;
  /** Where the service's health is asked for; null = nothing depends on the service. */
  serviceCluster: Text | null = null;
  /** Classes of routes whose requests can wait. */
  shedClasses: Text[] = [];
  /** Live attempts that point into this policy: it may not be forgotten before they end. */
  uses: i32 = 0;
  readonly nameText: Text;

  constructor(
    readonly name: string,
    readonly hash: u64,
  ) {
    this.nameText = Text.of(name);
  }

  /** Whether any chain has limits. */
  get hasLimits(): bool {
    for (let i = 0; i < this.chains.length; i++) if (unchecked(this.chains[i]).limits) return true;
    return false;
  }

  findBackend(ptr: usize, length: i32): Backend | null {
    for (let i = 0; i < this.backends.length; i++) {
      const backend = unchecked(this.backends[i]);
      if (backend.aliasText.equals(ptr, length)) return backend;
    }
    return null;
  }

  findChain(ptr: usize, length: i32): i32 {
    for (let i = 0; i < this.chains.length; i++) {
      if (unchecked(this.chains[i]).nameText.equals(ptr, length)) return i;
    }
    return -1;
  }

  /** The chain that serves a model, -1 = none: the first that names it, else the first with a pattern that it fits. */
  findChainOfModel(ptr: usize, length: i32): i32 {
    const named = this.findChainBy(true, ptr, length);
    return named >= 0 ? named : this.findChainBy(false, ptr, length);
  }

  private findChainBy(isName: bool, ptr: usize, length: i32): i32 {
    for (let i = 0; i < this.chains.length; i++) {
      const models = unchecked(this.chains[i]).models;
      for (let j = 0; j < models.length; j++) {
        const model = unchecked(models[j]);
        if (model.isName === isName && model.fits(ptr, length)) return i;
      }
    }
    return -1;
  }
}

import { type Answer, type ChatSettings, chat } from "../../support/client.js";
import { waitFor } from "../../support/wait-for.js";
import { type Alias, noTrigger, type Rig, type RigSettings, staysOpen, type Transition } from "./rig.js";
import { addBackend, addRoute, chainOf, type PolicyJson } from "./shipped-config.js";

type Json = Readonly<Record<string, unknown>>;

/** A backend of its own at gpu's server, so that one Envoy serves as many breakers as a file has tests. */
export interface ExtraBackend {
  /** Goes over the shared breaker settings. */
  readonly breaker?: Json;
  /** Further fields of the backend, such as a price. */
  readonly backend?: Json;
  /** Goes over the settings of the shipped chain. */
  readonly chain?: Json;
}

/** A test turns on the one trigger that it is about. */
export const quiet: Json = {
  minimumNumberOfCalls: 4,
  ...noTrigger,
  ...staysOpen,
};

/**
 * Settings of a rig that has each of these backends, its breaker {@link quiet} but for what is given, as the first tier of a
 * chain of the same name, `small` behind it, and the chain's route at the prefix `/<alias>/`.
 * `more` changes what then is there.
 */
export function withBackends(
  backends: Readonly<Record<string, ExtraBackend>>,
  more: Pick<RigSettings, "policy" | "patch"> = {},
): Required<Pick<RigSettings, "service" | "policy" | "patch">> {
  const aliases = Object.keys(backends);
  return {
    service: false,
    policy: (policy) => {
      addToPolicy(policy, backends);
      more.policy?.(policy);
    },
    patch: (config) => {
      for (const alias of aliases) addBackend(config, alias, "gpu");
      for (const alias of aliases) addRoute(config, `/${alias}/`, alias);
      more.patch?.(config);
    },
  };
}

/** What a test asks of one backend, and sees of it. */
export class BackendUnderTest {
  readonly #alias: Alias;

  constructor(
    readonly rig: Rig,
    readonly alias: string,
  ) {
    // The rig's own names are those of the shipped file.
    this.#alias = alias as Alias;
  }

  /** The same once every backend works again and has seen nothing. */
  static afterReset(rig: Rig, alias: string): BackendUnderTest {
    rig.reset();
    return new BackendUnderTest(rig, alias);
  }

  chat(settings: ChatSettings = {}): Promise<Answer> {
    return chat(`${this.rig.url}/${this.alias}`, settings);
  }

  /** One chat after another; the names of those who answered. */
  async chats(calls: number, settings: ChatSettings = {}): Promise<string[]> {
    const names: string[] = [];
    for (let call = 0; call < calls; call++) names.push(answererOf(await this.chat(settings)));
    return names;
  }

  /** Whether the next small chat is its own, and not the fallback's. */
  async answers(): Promise<boolean> {
    return answererOf(await this.chat()) === this.alias;
  }

  state(): Promise<number> {
    return this.rig.state(this.#alias);
  }

  counter(name: string): Promise<number> {
    return this.rig.counter(this.#alias, name);
  }

  waitForCounter(name: string, least: number): Promise<void> {
    return this.rig.waitForCounter(this.#alias, name, least);
  }

  transitions(): Transition[] {
    return this.rig.transitions(this.#alias);
  }

  waitForCause(cause: string): Promise<Transition> {
    return this.rig.waitForCause(cause, this.#alias);
  }

  /** The causes of openings that were only reported. */
  reports(): string[] {
    const start = `llm.breaker report {"backend":"${this.alias}",`;
    return this.rig.envoy.logLines
      .filter((line) => line.includes(start))
      .map((line) => JSON.parse(line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1)).cause);
  }

  async waitForReport(cause: string): Promise<void> {
    await waitFor(() => this.reports().includes(cause), 5_000, `a report of ${this.alias} by ${cause}`);
  }
}

export function answererOf(answer: Answer): string {
  return String(answer.headers["x-llm-breaker-backend"]);
}

function addToPolicy(policy: PolicyJson, backends: Readonly<Record<string, ExtraBackend>>): void {
  for (const [alias, { breaker, backend, chain }] of Object.entries(backends)) {
    policy.backends[alias] = { ...backend, breaker: { ...quiet, ...breaker } };
    policy.chains[alias] = { ...chainOf(policy), tiers: [alias, "small"], sameTierRetries: 0, ...chain };
  }
}

/**
 * policy.yaml, checked, with every default filled in: what all targets write from. Nothing in it is of one target alone, but for what
 * `cluster` means there.
 */
export interface Plan {
  /** Names the policy, its objects and its routes. */
  readonly name: string;
  /** host:port that callers come to; only where a listener is made. */
  readonly listen: string;
  readonly backends: readonly PlannedBackend[];
  readonly chains: readonly PlannedChain[];
  /** The gate's configuration: JSON, indented, as its parser takes it. */
  readonly policy: string;
  /** Undefined: nothing in the policy needs the service. */
  readonly service: PlannedService | undefined;
  /** The gate tells Envoy's spans what it decided; that Envoy makes spans is the file's own matter. */
  readonly isTraced: boolean;
}

export interface PlannedBackend {
  /** The policy's alias. */
  readonly alias: string;
  /** Undefined: `cluster` is one that is there already. */
  readonly url: BackendUrl | undefined;
  /** The alias, or the name of a cluster or host that is there already: with Istio a host and port. */
  readonly cluster: string;
  /** Of `metadata.filter_metadata["llm.breaker"]` on its cluster, `backend` first; all texts, as the meter and the service read them. */
  readonly metadata: Readonly<Record<string, string>>;
  /** `llm.breaker.rewrite` and the guard stand on its cluster. */
  readonly rewritesBody: boolean;
  /** Its only rules are `degraded…`: `llm.breaker.rewrite` stands in a Composite filter, and no guard. Never with `rewritesBody`. */
  readonly degradesBody: boolean;
  /** A key of our own, which replaces the caller's. */
  readonly credential: PlannedCredential | undefined;
  /** Upstream protocol. */
  readonly isHttp2: boolean;
}

export interface BackendUrl {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** An IP address: no name is resolved. */
  readonly isAddress: boolean;
  /** Whose signature its certificate must have; only where `isTls`. */
  readonly caFile: string;
}

export interface PlannedCredential {
  /** The request header, lower case. */
  readonly header: string;
  /** In front of the key, like "Bearer "; may be empty. */
  readonly prefix: string;
  /** A file that holds an Envoy SDS secret, which is watched for changes. */
  readonly secretFile: string;
  /** The secret's name in that file. */
  readonly secretName: string;
}

export interface PlannedChain {
  readonly name: string;
  readonly tiers: readonly string[];
  readonly models: readonly string[];
  readonly isDefault: boolean;
  /** Callers' paths that begin so are the chain's, whatever their model. Undefined: the chain is chosen by model, or is the only one. */
  readonly prefix: string | undefined;
  /** One tier, and the route names its cluster: no matcher, no stop cluster. */
  readonly isFixed: boolean;
  readonly maxAttempts: number;
  readonly answerTimeoutMs: number;
}

export interface PlannedService {
  readonly host: string;
  readonly grpcPort: number;
  readonly httpPort: number;
}

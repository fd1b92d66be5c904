import type { BackendView, EntryView, TrendsView } from "../../control/schemas.js";
import { BackendCard } from "./backend-card.js";
import type { Action } from "./orders.js";
import { serviceOf } from "./situation.js";
import { type Chain, grouped, servingTier } from "./standing.js";

interface Props {
  readonly backends: readonly BackendView[];
  readonly chains: readonly Chain[];
  readonly entries: readonly EntryView[];
  readonly trends: TrendsView | undefined;
  /** Changes when the colours do. */
  readonly theme: number;
  readonly onControl: (backend: BackendView, action?: Action) => void;
}

/** All backends: by chain, in the order in which callers try them, then those of no chain. */
export function Fleet(props: Props) {
  const { backends, chains } = props;
  const { loose } = grouped(chains, backends);
  const shown = new Set<string>();
  return (
    <div class="fleet">
      {chains.map((chain) => {
        const repeated = new Set(chain.tiers.filter((name) => shown.has(name)));
        for (const name of chain.tiers) shown.add(name);
        return (
          <ChainSection key={`${chain.policy} ${chain.name}`} chain={chain} repeated={repeated} {...props} />
        );
      })}
      {loose.length > 0 && (
        <section aria-labelledby="loose-title">
          <h2 id="loose-title">{chains.length > 0 ? "In no chain" : "Backends"}</h2>
          <ul class="cards">
            {loose.map((backend) => (
              <li key={backend.name}>
                <BackendCard backend={backend} tier={undefined} isServing={false} {...props} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** A backend that stood in a chain above is only named: its card is there. */
function ChainSection({
  chain,
  repeated,
  ...props
}: Props & { chain: Chain; repeated: ReadonlySet<string> }) {
  const known = new Map(props.backends.map((backend) => [backend.name, backend]));
  const serving = servingTier(chain, known);
  const id = `chain-${chain.policy}-${chain.name}`;
  return (
    <section class="chain" aria-labelledby={id}>
      <h2 id={id}>
        <bdi>{chain.name}</bdi>{" "}
        <span class={serving < 0 ? "service none" : "service"}>{serviceOf(chain, known)}</span>
      </h2>
      <ol class={repeated.size === chain.tiers.length ? "cards known" : "cards"}>
        {chain.tiers.map((name, tier) => {
          const backend = known.get(name);
          const place = { tier: tier + 1, isServing: tier === serving };
          return (
            <li key={name}>
              {backend === undefined ? (
                <Unheard name={name} tier={tier + 1} />
              ) : (
                <BackendCard backend={backend} isBrief={repeated.has(name)} {...place} {...props} />
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function Unheard({ name, tier }: { name: string; tier: number }) {
  return (
    <article class="card">
      <header>
        <span class="tier">{tier}</span>
        <h3>
          <bdi>{name}</bdi>
        </h3>
      </header>
      <p class="why">No gateway reports it.</p>
    </article>
  );
}

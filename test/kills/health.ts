import { send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { backendNames, type Gateway, letters, type System } from "./system.js";

/** As gauges number them. */
const STATES = ["CLOSED", "OPEN", "HALF_OPEN"] as const;
/** A share of the ramp that a gateway takes to its grave is missing for 33 s. */
const waitMs = 60_000;

/** What the control API tells of a backend. */
interface Told {
  readonly name: string;
  readonly state: string;
  readonly mode: string;
  readonly group?: { readonly live: number };
  readonly gateways: readonly { readonly state: string; readonly canaries: number }[];
}

/** Milliseconds until Envoys, services and the group agree that all is well. @throws telling who does not */
export async function whenWell(system: System): Promise<number> {
  const startMs = performance.now();
  let ill: string[] = [];
  const isWell = async () => {
    ill = await illnesses(system);
    return ill.length === 0;
  };
  await waitFor(isWell, waitMs, "a system that is well").catch((cause: Error) => {
    throw new Error(`${cause.message}: ${ill.join(", ")}`, { cause });
  });
  return performance.now() - startMs;
}

/**
 * Who does not see the first tier Closed, all others Closed or ready for canaries, and both gateways; and who is told something
 * else than Envoy's gauges tell. Empty when all is well. A fallback takes minutes for its ramp while the first tier serves.
 */
async function illnesses(system: System): Promise<string[]> {
  const told = letters.map((letter) => illnessesOf(system.gateways[letter]));
  return (await Promise.all(told)).flat();
}

async function illnessesOf(gateway: Gateway): Promise<string[]> {
  const envoy = await gauges(gateway);
  const backends = await toldBy(gateway);
  return backendNames.flatMap((name) => {
    const gauge = STATES[envoy.get(name) ?? -1] ?? "unknown";
    const told = backends.find((each) => each.name === name);
    const states = [gauge, told?.state, ...(told?.gateways ?? []).map(({ state }) => state)];
    const isOne = states.length === 3 && states.every((state) => state === gauge);
    const isWell = isOne && (gauge === "CLOSED" || (name !== "gpu" && gauge === "HALF_OPEN"));
    const seen = `gateway-${gateway.letter} sees ${name} as ${states.join(", ")}`;
    const live = told?.group?.live;
    const alone = `service-${gateway.letter} knows ${live} gateways`;
    return [...(isWell ? [] : [seen]), ...(live === letters.length ? [] : [alone])];
  });
}

/** Of Envoy, by backend: 0 Closed, 1 Open, 2 Half-open. Empty while it can't be asked. */
export async function gauges({ envoy }: Gateway): Promise<Map<string, number>> {
  const stats = await envoy.running
    ?.stats("^wasmcustom\\.llm_breaker\\.\\w+\\.state$")
    .catch(() => undefined);
  return new Map([...(stats ?? [])].map(([name, value]) => [name.split(".")[2] ?? "", value]));
}

export async function toldBy({ ports }: Gateway): Promise<readonly Told[]> {
  const answer = await send(`http://127.0.0.1:${ports.control}/v1/backends`, { timeoutMs: 2_000 });
  return answer.status === 200 ? (JSON.parse(answer.text) as { backends: Told[] }).backends : [];
}

const quietMs = 10_000;

/** Waits until no request is anywhere, and tells what is held on to then; all should be 0. */
export async function leftovers(system: System): Promise<ReadonlyMap<string, number>> {
  let left = new Map<string, number>();
  const isQuiet = async () => {
    left = await heldNow(system);
    return [...left.values()].every((count) => count === 0);
  };
  await waitFor(isQuiet, quietMs).catch(() => {});
  return left;
}

async function heldNow(system: System): Promise<Map<string, number>> {
  const held = new Map<string, number>();
  for (const letter of letters) {
    const gateway = system.gateways[letter];
    const pattern = `^cluster\\.(${backendNames.join("|")})\\.upstream_rq_(pending_)?active$|^http\\.llm\\.downstream_rq_active$`;
    for (const [name, count] of (await gateway.envoy.running?.stats(pattern)) ?? []) {
      held.set(`gateway-${letter} ${name}`, count);
    }
    for (const { name, gateways } of await toldBy(gateway)) {
      const permits = gateways.reduce((sum, { canaries }) => sum + canaries, 0);
      held.set(`gateway-${letter} permits of ${name}`, permits);
    }
  }
  return held;
}

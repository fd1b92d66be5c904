import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import { roleEvent, tokenEvent } from "../support/completion.js";
import { DiscoveredClusters } from "../support/discovered-clusters.js";
import { onFreePorts } from "../support/envoy-config.js";
import { waitFor } from "../support/wait-for.js";
import { balanceExactly, OPEN, type Rig, recover, startRig } from "./support/rig.js";
import type { Cluster, ShippedConfig } from "./support/shipped-config.js";

// Of all meters of a worker one ticks, and any of them may go: with its cluster, or by another configuration.

const rounds = 4;
const discovered = new DiscoveredClusters();
let metered: Cluster[] = [];
let rig: Rig;

before(async () => {
  discovered.push([]);
  rig = await startRig({
    service: false,
    patch: (config) => {
      balanceExactly(config);
      metered = takeMetered(config);
      config.dynamic_resources = discovered.source;
    },
  });
  const { gpu, small, public_ } = rig;
  await onFreePorts({ metered }, { 9101: gpu.port, 9102: small.port, 9103: public_.port });
  await push([spare(0), ...metered]);
});

after(async () => {
  await rig?.stop();
  discovered.remove();
});

/** No cluster with a meter stays in the file: the one where nobody is left would never go, and tick for all. */
function takeMetered(config: ShippedConfig): Cluster[] {
  const { clusters } = config.static_resources;
  const isMetered = (cluster: Cluster) => JSON.stringify(cluster).includes('"llm.breaker.meter"');
  config.static_resources.clusters = clusters.filter((cluster) => !isMetered(cluster));
  return clusters.filter((cluster) => isMetered(cluster) && cluster.metadata);
}

/** A cluster with a meter, in front of the others, to which nobody goes. */
function spare(round: number): Cluster {
  const cluster = structuredClone(metered[0]) as Cluster;
  cluster.name = `spare-${round}`;
  Object.assign(cluster.load_assignment, { cluster_name: cluster.name });
  return described(cluster, `spare-${round}.example`);
}

/** The same cluster by another configuration: its meter gets a new root. */
function described(cluster: Cluster, host: string): Cluster {
  const other = structuredClone(cluster);
  other.metadata.filter_metadata["llm.breaker"].host = host;
  return other;
}

async function push(clusters: readonly Cluster[]): Promise<void> {
  const updates = () => rig.envoy.stat("cluster_manager.cds.update_success");
  const before = await updates();
  discovered.push(clusters);
  await waitFor(async () => (await updates()) > before, 5_000, "the clusters");
}

/** Callers who go on until `work` is done; every status they got. */
async function underLoad(work: () => Promise<void>): Promise<number[]> {
  let isWorking = true;
  const statuses: number[] = [];
  const call = async (): Promise<void> => {
    while (isWorking) statuses.push((await chat(rig.url)).status);
  };
  const callers = Array.from({ length: 4 }, call);
  await work();
  isWorking = false;
  await Promise.all(callers);
  return statuses;
}

test("meters come, change and go under load: each call is answered, and counted by whichever ticks now", async () => {
  const statuses = await underLoad(async () => {
    for (let round = 1; round <= rounds; round++) {
      const others = metered.map((cluster) => described(cluster, `host-${round}.example`));
      await push(round % 2 === 0 ? [spare(round), ...others] : others);
    }
  });
  assert.ok(statuses.every((status) => status === 200));
  await rig.waitForCounter("gpu", "outcome.success", statuses.length);
});

test("a silent stream is ended, and a sick backend opens and comes back, by whichever ticks now", async () => {
  rig.gpu.mode = {
    kind: "chunks",
    writes: [roleEvent("m"), tokenEvent("m", "a"), { waitMs: 3_000 }],
  };
  const streams = Array.from({ length: 4 }, () => chat(rig.url, { stream: true }));
  await waitFor(() => rig.gpu.active === streams.length, 5_000, "the streams");
  // Their meters get other roots while they live.
  await push(metered);
  const ended = await Promise.all(streams);
  assert.ok(ended.every(({ complete, totalMs }) => !complete && totalMs < 2_900));
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  await rig.waitForState(OPEN);
  rig.reset();
  await recover(rig, () => chat(rig.url));
});

test("a VM that had lost every meter ticks with the first new one", async () => {
  await push([]);
  await push(metered);
  const before = await rig.counter("gpu", "outcome.success");
  const answers = await Promise.all(Array.from({ length: 8 }, () => chat(rig.url)));
  assert.ok(answers.every(({ status }) => status === 200));
  await rig.waitForCounter("gpu", "outcome.success", before + answers.length);
});

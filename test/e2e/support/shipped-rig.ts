import { startEnvoy } from "../../support/envoy.js";
import { whenProductPortsAreFree } from "../../support/product-ports.js";
import { type RunningService, startService } from "../../support/service.js";
import { startUpstream, type Upstream } from "../../support/upstream.js";
import { Rig } from "./rig.js";

/** A shipped file as it is, on the product's own ports, with the service as it starts without a config of its own. */
export async function startShippedRig(file: "full" | "minimal", concurrency = 2): Promise<Rig> {
  await whenProductPortsAreFree();
  const upstreams: Upstream[] = [];
  let service: RunningService | undefined;
  try {
    for (const port of [9101, 9102, 9103]) upstreams.push(await startUpstream({ port }));
    if (file === "full") service = await startService();
    const envoy = await startEnvoy({ configFile: `envoy/${file}.yaml`, concurrency });
    const [gpu, small, public_] = upstreams as [Upstream, Upstream, Upstream];
    return new Rig(envoy, gpu, small, public_, service);
  } catch (error) {
    await service?.stop();
    for (const upstream of upstreams) await upstream.stop();
    throw error;
  }
}

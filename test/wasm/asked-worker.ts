import { RequestScope } from "./host/context.js";
import type { PropertyTree } from "./host/properties.js";
import { Worker } from "./worker.js";

/** A worker whose next request takes the route that names `chain`, and of which the service found out `facts`. */
export class AskedWorker extends Worker {
  chain = "by-model";
  facts: PropertyTree = {};

  override newScope(): RequestScope {
    const metadata = { filter_metadata: { "llm.breaker": { chain: this.chain } } };
    return new RequestScope({
      xds: { route_metadata: metadata, route_name: this.chain },
      metadata: { filter_metadata: { "llm.breaker": this.facts } },
    });
  }
}

import { RequestScope } from "./host/context.js";
import { Worker } from "./worker.js";

/** A worker whose next request takes the route that names `chain`. */
export class RoutedWorker extends Worker {
  chain = "chat";

  override newScope(): RequestScope {
    const metadata = { filter_metadata: { "llm.breaker": { chain: this.chain } } };
    return new RequestScope({ xds: { route_metadata: metadata, route_name: this.chain } });
  }
}

import type { HostContext } from "./context.js";
import type { HeaderMap } from "./header-map.js";
import type { Vm } from "./vm.js";

/** A request that the module sent by itself. */
export interface HttpCall {
  readonly token: number;
  readonly vm: Vm;
  readonly root: HostContext;
  readonly cluster: string;
  readonly headers: HeaderMap;
  readonly body: Buffer;
  readonly timeoutMs: number;
}

import { Status } from "./abi.js";
import type { HostContext } from "./context.js";
import { HeaderMap } from "./header-map.js";
import type { HostCalls } from "./imports.js";
import { unmarshalPairs } from "./pairs.js";
import { lookUp, serialize } from "./properties.js";
import type { Vm } from "./vm.js";

/** What acts on a stream: properties, filter state, replies, and requests of the module's own. */
export function streamImports(vm: Vm): HostCalls {
  const headersAt = (pairs: number, size: number): HeaderMap => {
    const marshalled = size > 0 ? unmarshalPairs(vm.memory.bytes(pairs, size)) : [];
    return new HeaderMap(
      marshalled.map(([name, value]) => [name.toString("latin1"), value.toString("latin1")]),
    );
  };
  return {
    proxy_get_property: (path: number, size: number, valueOut: number, sizeOut: number) => {
      const value = propertyOf(vm.context, vm.memory.text(path, size));
      return value === undefined ? Status.notFound : vm.memory.give(value, valueOut, sizeOut);
    },
    proxy_set_property: (path: number, size: number, value: number, valueSize: number) => {
      vm.context.scope.filterState.set(vm.memory.text(path, size), vm.memory.bytes(value, valueSize));
      return Status.ok;
    },
    proxy_send_local_response: (
      code: number,
      details: number,
      detailsSize: number,
      body: number,
      bodySize: number,
      headers: number,
      headersSize: number,
      _grpcStatus: number,
    ) => {
      const text = vm.memory.text(details, detailsSize);
      vm.context.reply(code, text, vm.memory.bytes(body, bodySize), headersAt(headers, headersSize).entries);
      vm.stopNext();
      return Status.ok;
    },
    proxy_continue_stream: (type: number) => {
      vm.context.continueStream(type);
      return Status.ok;
    },
    proxy_close_stream: (type: number) => {
      vm.context.closed.push(type);
      return Status.ok;
    },
    proxy_set_effective_context: (contextId: number) => (vm.act(contextId) ? Status.ok : Status.badArgument),
    proxy_call_foreign_function: (
      name: number,
      nameSize: number,
      _argument: number,
      _argumentSize: number,
      resultOut: number,
      sizeOut: number,
    ) => {
      const called = vm.memory.text(name, nameSize);
      if (called === "clear_route_cache") vm.context.routeCacheClears++;
      else if (called !== "declare_property") return Status.notFound;
      if (resultOut) vm.memory.setU32(resultOut, 0);
      if (sizeOut) vm.memory.setU32(sizeOut, 0);
      return Status.ok;
    },
    proxy_http_call: (
      cluster: number,
      clusterSize: number,
      headers: number,
      headersSize: number,
      body: number,
      bodySize: number,
      _trailers: number,
      _trailersSize: number,
      timeoutMs: number,
      tokenOut: number,
    ) => {
      const token = vm.world.takeHttpCall({
        vm,
        root: vm.context.root ?? vm.context,
        cluster: vm.memory.text(cluster, clusterSize),
        headers: headersAt(headers, headersSize),
        body: vm.memory.bytes(body, bodySize),
        timeoutMs,
      });
      vm.memory.setU32(tokenOut, token);
      return token === 0 ? Status.internalFailure : Status.ok;
    },
    proxy_done: () => Status.ok,
  };
}

function propertyOf(context: HostContext, path: string): Buffer | undefined {
  if (path === "plugin_root_id") return Buffer.from(context.rootId);
  const found = lookUp(context.properties, path) ?? lookUp(context.scope.properties, path);
  return found === undefined ? context.scope.filterState.get(path) : serialize(found);
}

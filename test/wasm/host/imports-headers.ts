import { Status } from "./abi.js";
import type { HeaderMap } from "./header-map.js";
import type { HostCalls } from "./imports.js";
import { marshalPairs, unmarshalPairs } from "./pairs.js";
import type { Vm } from "./vm.js";

/** Header maps and body buffers. A map that can't be reached (its headers were let go) is status 2, as in Envoy. */
export function headerImports(vm: Vm): HostCalls {
  const onMap = (type: number, act: (map: HeaderMap) => number): number => {
    const map = vm.context.maps.get(type);
    return map ? act(map) : Status.badArgument;
  };
  return {
    proxy_get_header_map_value: (
      type: number,
      key: number,
      keySize: number,
      valueOut: number,
      sizeOut: number,
    ) =>
      onMap(type, (map) => {
        const value = map.get(vm.memory.text(key, keySize));
        if (value === undefined) return Status.notFound;
        return vm.memory.give(Buffer.from(value, "latin1"), valueOut, sizeOut);
      }),
    proxy_get_header_map_pairs: (type: number, valueOut: number, sizeOut: number) =>
      onMap(type, (map) => {
        const pairs = map.entries.map(([name, value]) => [latin1(name), latin1(value)] as const);
        return vm.memory.give(pairs.length > 0 ? marshalPairs(pairs) : Buffer.alloc(0), valueOut, sizeOut);
      }),
    proxy_get_header_map_size: (type: number, sizeOut: number) =>
      onMap(type, (map) => {
        vm.memory.setU32(sizeOut, map.size);
        return Status.ok;
      }),
    proxy_replace_header_map_value: (
      type: number,
      key: number,
      keySize: number,
      value: number,
      size: number,
    ) =>
      onMap(type, (map) => {
        map.set(vm.memory.text(key, keySize), vm.memory.text(value, size));
        return Status.ok;
      }),
    proxy_add_header_map_value: (type: number, key: number, keySize: number, value: number, size: number) =>
      onMap(type, (map) => {
        map.add(vm.memory.text(key, keySize), vm.memory.text(value, size));
        return Status.ok;
      }),
    proxy_remove_header_map_value: (type: number, key: number, keySize: number) =>
      onMap(type, (map) => {
        map.remove(vm.memory.text(key, keySize));
        return Status.ok;
      }),
    proxy_set_header_map_pairs: (type: number, pairs: number, size: number) =>
      onMap(type, (map) => {
        for (const [name] of [...map.entries]) map.remove(name);
        for (const [name, value] of unmarshalPairs(vm.memory.bytes(pairs, size))) {
          map.add(name.toString("latin1"), value.toString("latin1"));
        }
        return Status.ok;
      }),
    proxy_get_buffer_bytes: (
      type: number,
      start: number,
      length: number,
      valueOut: number,
      sizeOut: number,
    ) => {
      const buffer = vm.context.buffers.get(type);
      if (!buffer) return Status.notFound;
      // Envoy's length wraps around here and it reads beyond the buffer.
      if (start > buffer.length)
        throw new RangeError(`read from ${start} of a buffer of ${buffer.length} bytes`);
      const bytes = buffer.subarray(start, start + (length >>> 0));
      // Envoy leaves both results as they were.
      return bytes.length > 0 ? vm.memory.give(bytes, valueOut, sizeOut) : Status.ok;
    },
    proxy_get_buffer_status: (type: number, lengthOut: number, flagsOut: number) => {
      const buffer = vm.context.buffers.get(type);
      if (!buffer) return Status.notFound;
      vm.memory.setU32(lengthOut, buffer.length);
      vm.memory.setU32(flagsOut, 0);
      return Status.ok;
    },
    proxy_set_buffer_bytes: (type: number, start: number, length: number, data: number, size: number) => {
      const buffer = vm.context.buffers.get(type);
      if (!buffer) return Status.notFound;
      const end = buffer.subarray(Math.min(buffer.length, start + (length >>> 0)));
      const bytes = Buffer.concat([buffer.subarray(0, start), vm.memory.bytes(data, size), end]);
      vm.context.buffers.set(type, bytes);
      return Status.ok;
    },
  };
}

function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

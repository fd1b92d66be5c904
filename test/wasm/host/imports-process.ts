import { Status } from "./abi.js";
import type { HostCalls } from "./imports.js";
import type { Vm } from "./vm.js";

/** What a process has once: log, shared data, metrics, the timer. */
export function processImports(vm: Vm): HostCalls {
  const { world } = vm;
  return {
    proxy_log: (level: number, text: number, size: number) => {
      vm.logs.push({ level, text: vm.memory.bytes(text, size).toString("utf8") });
      return Status.ok;
    },
    proxy_get_log_level: (levelOut: number) => {
      vm.memory.setU32(levelOut, 2);
      return Status.ok;
    },
    proxy_get_shared_data: (
      key: number,
      keySize: number,
      valueOut: number,
      sizeOut: number,
      casOut: number,
    ) => {
      const found = world.shared.get(vm.memory.text(key, keySize));
      if (!found) return Status.notFound;
      const given = vm.memory.give(found.value, valueOut, sizeOut);
      if (given === Status.ok) vm.memory.setU32(casOut, found.cas);
      return given;
    },
    proxy_set_shared_data: (key: number, keySize: number, value: number, size: number, cas: number) =>
      world.shared.set(vm.memory.text(key, keySize), vm.memory.bytes(value, size), cas >>> 0),
    proxy_define_metric: (kind: number, name: number, nameSize: number, idOut: number) => {
      vm.memory.setU32(idOut, world.metrics.define(vm.memory.text(name, nameSize), kind));
      return Status.ok;
    },
    proxy_increment_metric: (id: number, offset: bigint) =>
      world.metrics.add(id, offset) ? Status.ok : Status.notFound,
    proxy_record_metric: (id: number, value: bigint) =>
      world.metrics.record(id, value) ? Status.ok : Status.notFound,
    proxy_get_metric: (id: number, valueOut: number) => {
      const value = world.metrics.byId(id);
      if (value === undefined) return Status.notFound;
      vm.memory.setU64(valueOut, BigInt.asUintN(64, value));
      return Status.ok;
    },
    proxy_set_tick_period_milliseconds: (periodMs: number) => {
      vm.context.tickPeriodMs = periodMs;
      return Status.ok;
    },
    proxy_get_current_time_nanoseconds: (timeOut: number) => {
      vm.memory.setU64(timeOut, world.clock.wallNs);
      return Status.ok;
    },
    proxy_get_status: (codeOut: number, valueOut: number, sizeOut: number) => {
      vm.memory.setU32(codeOut, 0);
      return vm.memory.give(Buffer.alloc(0), valueOut, sizeOut);
    },
  };
}

import type { HostCalls } from "./imports.js";
import type { Vm } from "./vm.js";

const success = 0;
const monotonic = 1;

/** The few calls of WASI that a runtime may make. */
export function wasiImports(vm: Vm): HostCalls {
  return {
    clock_time_get: (id: number, _precision: bigint, timeOut: number) => {
      const { clock } = vm.world;
      vm.memory.setU64(timeOut, id === monotonic ? clock.nowNs : clock.wallNs);
      return success;
    },
    random_get: (at: number, size: number) => {
      const bytes = Buffer.alloc(size);
      for (let index = 0; index < size; index++) bytes[index] = Math.floor(vm.world.random() * 256);
      vm.memory.put(at, bytes);
      return success;
    },
    fd_write: (_fd: number, _vectors: number, _count: number, writtenOut: number) => {
      vm.memory.setU32(writtenOut, 0);
      return success;
    },
    proc_exit: (code: number) => {
      throw new Error(`the module called proc_exit(${code})`);
    },
    environ_get: () => success,
    environ_sizes_get: (countOut: number, sizeOut: number) => {
      vm.memory.setU32(countOut, 0);
      vm.memory.setU32(sizeOut, 0);
      return success;
    },
  };
}

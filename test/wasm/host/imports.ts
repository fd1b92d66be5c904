import { headerImports } from "./imports-headers.js";
import { processImports } from "./imports-process.js";
import { streamImports } from "./imports-stream.js";
import { wasiImports } from "./imports-wasi.js";
import type { Vm } from "./vm.js";

/** Numbers, and bigints for the ABI's 64-bit arguments. */
export type HostCall = (...args: never[]) => number | undefined;
export type HostCalls = Readonly<Record<string, HostCall>>;

/**
 * The imports a module asks for, each counted.
 * @throws naming every import that Envoy would not have, and so would refuse the module for
 */
export function hostImports(module: WebAssembly.Module, vm: Vm): WebAssembly.Imports {
  const offered: Readonly<Record<string, HostCalls>> = {
    env: { ...headerImports(vm), ...streamImports(vm), ...processImports(vm) },
    wasi_snapshot_preview1: wasiImports(vm),
  };
  const unknown: string[] = [];
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: space, name } of WebAssembly.Module.imports(module)) {
    const hostCall = offered[space]?.[name];
    if (!hostCall) {
      unknown.push(`${space}.${name}`);
      continue;
    }
    imports[space] ??= {};
    imports[space][name] = (...args: never[]) => {
      vm.count(name);
      return hostCall(...args);
    };
  }
  if (unknown.length > 0) throw new Error(`the host does not offer ${unknown.join(", ")}`);
  return imports;
}

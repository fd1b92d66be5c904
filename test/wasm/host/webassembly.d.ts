/** The part of the WebAssembly API that the mock host uses; Node's type package leaves it to the DOM library. */
declare namespace WebAssembly {
  class Module {
    private readonly brand: "Module";
    constructor(bytes: Uint8Array);
    static imports(module: Module): { module: string; name: string }[];
    static exports(module: Module): { name: string }[];
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }
  class Memory {
    private readonly brand: "Memory";
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class RuntimeError extends Error {
    private readonly brand: "RuntimeError";
  }
  type ImportValue = (...args: never[]) => number | undefined;
  type Imports = Record<string, Record<string, ImportValue>>;
}

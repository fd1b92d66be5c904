import { FIGURES } from "./dry-run-record.js";

/** Fields of one transition, as filter/dry-run/transitions.ts writes them. */
const TRANSITION_FIELDS = 7;

/** What the module exports; texts are addresses in its memory. */
interface DryRunExports {
  readonly memory: WebAssembly.Memory;
  allocateText(size: number): number;
  parse(ptr: number, size: number): number;
  errorText(): number;
  policyName(): number;
  backendCount(): number;
  backendName(index: number): number;
  begin(index: number): void;
  replaySecond(...figures: number[]): void;
  refusedCalls(): number;
  transitionCount(): number;
  transitionsAt(): number;
  stateText(state: number): number;
  causeText(cause: number): number;
}

export interface ReplayJob {
  /** Its bytes, or what they were compiled to. */
  readonly module: Uint8Array | WebAssembly.Module;
  readonly policy: string;
  /** `FIGURES` numbers a second, by backend. */
  readonly records: ReadonlyMap<string, Uint32Array>;
  /** Seconds of each record. */
  readonly seconds: number;
}

export interface ReplayedTransition {
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly openings: number;
  readonly waitMs: number;
}

export interface ReplayedBackend {
  readonly name: string;
  readonly transitions: readonly ReplayedTransition[];
  readonly refusedCalls: number;
}

/** `error`: the policy is one that Envoy would refuse, in the same words. */
export type ReplayAnswer =
  | { readonly error: string }
  | {
      readonly policy: string;
      readonly names: readonly string[];
      readonly backends: readonly ReplayedBackend[];
    };

/** Replays each backend of the policy that there is a record of. */
export function replayAll({ module, policy, records, seconds }: ReplayJob): ReplayAnswer {
  const compiled = module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module);
  const exports = new WebAssembly.Instance(compiled, {}).exports as unknown as DryRunExports;
  const text = Buffer.from(policy, "utf8");
  const ptr = exports.allocateText(text.length);
  new Uint8Array(exports.memory.buffer).set(text, ptr);
  if (!exports.parse(ptr, text.length)) return { error: readText(exports, exports.errorText()) };
  const names = Array.from({ length: exports.backendCount() }, (_, index) =>
    readText(exports, exports.backendName(index)),
  );
  const backends = names.flatMap((name, index) => {
    const figures = records.get(name);
    return figures === undefined ? [] : [replayOne(exports, index, name, figures, seconds)];
  });
  return { policy: readText(exports, exports.policyName()), names, backends };
}

function replayOne(
  exports: DryRunExports,
  index: number,
  name: string,
  figures: Uint32Array,
  seconds: number,
): ReplayedBackend {
  exports.begin(index);
  for (let second = 0; second < seconds; second++) {
    const at = second * FIGURES;
    exports.replaySecond(...figures.subarray(at, at + FIGURES));
  }
  return { name, transitions: readTransitions(exports), refusedCalls: exports.refusedCalls() };
}

function readTransitions(exports: DryRunExports): ReplayedTransition[] {
  const fields = new Int32Array(
    exports.memory.buffer,
    exports.transitionsAt(),
    exports.transitionCount() * TRANSITION_FIELDS,
  );
  const fieldAt = (row: number, field: number) => fields[row * TRANSITION_FIELDS + field] ?? 0;
  // Names are taken afterwards: to ask for one may grow the memory, which moves it.
  return Array.from({ length: exports.transitionCount() }, (_, row) => ({
    atMs: fieldAt(row, 0),
    from: readText(exports, exports.stateText(fieldAt(row, 1))),
    to: readText(exports, exports.stateText(fieldAt(row, 2))),
    cause: readText(exports, exports.causeText(fieldAt(row, 4))),
    openings: fieldAt(row, 5),
    waitMs: fieldAt(row, 6),
  }));
}

/** UTF-16, its length in bytes in the four bytes before it. */
function readText({ memory }: DryRunExports, ptr: number): string {
  const size = new DataView(memory.buffer).getUint32(ptr - 4, true);
  return Buffer.from(memory.buffer, ptr, size).toString("utf16le");
}

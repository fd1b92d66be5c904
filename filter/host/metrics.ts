import {
  OK,
  proxy_define_metric,
  proxy_get_metric,
  proxy_increment_metric,
  proxy_record_metric,
} from "./abi";
import { RESULT } from "./result";
import { Text } from "./text";

const COUNTER: u32 = 0;
const GAUGE: u32 = 1;
const HISTOGRAM: u32 = 2;
const MAX_COUNTERS: i32 = 1 << 14;

/** Counts since the last flush, by handle. A call into Envoy for each increment would cost more than the decision it counts. */
const pending: StaticArray<u32> = new StaticArray<u32>(MAX_COUNTERS);
const ids: StaticArray<u32> = new StaticArray<u32>(MAX_COUNTERS);
let counters: i32 = 0;

function define(kind: u32, name: string): u32 {
  const text = Text.of(name);
  return proxy_define_metric(kind, text.ptr, text.length, RESULT) === OK ? load<u32>(RESULT) : 0;
}

/** A handle for {@link increment}. Equal names get equal handles; beyond 16,384 counters the last one takes all. */
export function defineCounter(name: string): i32 {
  const id = define(COUNTER, name);
  for (let i = 0; i < counters; i++) {
    if (ids[i] === id) return i;
  }
  if (counters < MAX_COUNTERS) counters++;
  ids[counters - 1] = id;
  return counters - 1;
}

export function increment(counter: i32): void {
  unchecked(pending[counter]++);
}

export function add(counter: i32, count: u32): void {
  pending[counter] += count;
}

/** Hands the counts to Envoy; called by each tick. A VM that dies takes a quarter of a second of counts with it. */
export function flushCounters(): void {
  for (let i = 0; i < counters; i++) {
    const count = unchecked(pending[i]);
    if (count === 0) continue;
    pending[i] = 0;
    proxy_increment_metric(unchecked(ids[i]), count);
  }
}

/** What all VMs of the process have handed over so far. */
export function readCounter(counter: i32): u64 {
  return proxy_get_metric(unchecked(ids[counter]), RESULT) === OK ? load<u64>(RESULT) : 0;
}

export function defineGauge(name: string): u32 {
  return define(GAUGE, name);
}

export function defineHistogram(name: string): u32 {
  return define(HISTOGRAM, name);
}

/** What any VM of the process has set a gauge to last. The one read of the host's that has no scratch memory filled for it. */
export function readGauge(id: u32): u64 {
  return proxy_get_metric(id, RESULT) === OK ? load<u64>(RESULT) : u64.MAX_VALUE;
}

/** Sets a gauge, or adds one sample to a histogram. */
export function record(id: u32, value: u64): void {
  if (id !== 0) proxy_record_metric(id, value);
}

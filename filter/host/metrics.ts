import { OK, proxy_define_metric, proxy_increment_metric, proxy_record_metric } from "./abi";
import { RESULT } from "./result";
import { Text } from "./text";

const COUNTER: u32 = 0;
const GAUGE: u32 = 1;

function define(kind: u32, name: string): u32 {
  const text = Text.of(name);
  return proxy_define_metric(kind, text.ptr, text.length, RESULT) === OK ? load<u32>(RESULT) : 0;
}

export function defineCounter(name: string): u32 {
  return define(COUNTER, name);
}

export function defineGauge(name: string): u32 {
  return define(GAUGE, name);
}

export function increment(id: u32): void {
  if (id !== 0) proxy_increment_metric(id, 1);
}

export function record(id: u32, value: u64): void {
  if (id !== 0) proxy_record_metric(id, value);
}

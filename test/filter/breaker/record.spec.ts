import { Trigger } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { livePermits } from "../../../filter/breaker/permits";
import {
  adaptRecord,
  BackendRecord,
  Bucket,
  initRecord,
  isRecordValid,
  MAX_BUCKETS,
  MAX_RECORD_SIZE,
  recordSize,
} from "../../../filter/breaker/record";
import { State } from "../../../filter/breaker/state";
import { Backend, totalsMatchBuckets } from "./backend";

let backend: Backend = new Backend();
const ptr: usize = heap.alloc(<usize>MAX_RECORD_SIZE);

describe("the record", () => {
  it("grows by 28 bytes a bucket, and stops at the most buckets", () => {
    expect(offsetof<Bucket>()).toBe(28);
    expect(recordSize(31) - recordSize(30)).toBe(28);
    expect(recordSize(MAX_BUCKETS)).toBe(MAX_RECORD_SIZE);
    expect(recordSize(i32.MAX_VALUE)).toBe(MAX_RECORD_SIZE);
    expect(recordSize(0)).toBe(recordSize(1));
    expect(recordSize(i32.MIN_VALUE)).toBe(recordSize(1));
  });

  it("begins CLOSED and empty, whatever the memory held", () => {
    memory.fill(ptr, 0xff, <usize>MAX_RECORD_SIZE);
    initRecord(ptr, 30, 77);
    const record = changetype<BackendRecord>(ptr);
    expect(record.state).toBe(State.CLOSED);
    expect(record.generation).toBe(1);
    expect(record.stateSinceMs).toBe(77);
    expect(totalsMatchBuckets(record)).toBe(true);
    expect(livePermits(record, 77)).toBe(0);
    expect(load<u8>(ptr + <usize>recordSize(30))).toBe(0xff);
  });

  it("is valid at its own size only", () => {
    initRecord(ptr, 30, 0);
    expect(isRecordValid(ptr, recordSize(30))).toBe(true);
    expect(isRecordValid(ptr, recordSize(31))).toBe(false);
    expect(isRecordValid(ptr, recordSize(29))).toBe(false);
    expect(isRecordValid(ptr, 0)).toBe(false);
    expect(isRecordValid(ptr, -1)).toBe(false);
  });

  it("is not valid with another layout, an impossible size, state or ring position", () => {
    const record = changetype<BackendRecord>(ptr);
    const size = recordSize(30);
    initRecord(ptr, 30, 0);
    record.layoutVersion++;
    expect(isRecordValid(ptr, size)).toBe(false);
    initRecord(ptr, 30, 0);
    record.bucketCount = 0;
    expect(isRecordValid(ptr, size)).toBe(false);
    initRecord(ptr, 30, 0);
    record.bucketCount = i32.MAX_VALUE;
    expect(isRecordValid(ptr, size)).toBe(false);
    initRecord(ptr, 30, 0);
    record.state = 3;
    expect(isRecordValid(ptr, size)).toBe(false);
    initRecord(ptr, 30, 0);
    record.head = 30;
    expect(isRecordValid(ptr, size)).toBe(false);
    memory.fill(ptr, 0, size);
    expect(isRecordValid(ptr, size)).toBe(false);
  });
});

describe("a push of another window size", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("keeps state, generation, streak, deadlines and permits, and starts the window anew", () => {
    backend.ramp();
    const id = backend.acquire();
    const from = backend.record;
    adaptRecord(changetype<usize>(from), recordSize(30), ptr, 120, backend.now);
    const record = changetype<BackendRecord>(ptr);
    expect(isRecordValid(ptr, recordSize(120))).toBe(true);
    expect(record.state).toBe(from.state);
    expect(record.stage).toBe(from.stage);
    expect(record.generation).toBe(from.generation);
    expect(record.openings).toBe(from.openings);
    expect(record.stateSinceMs).toBe(from.stateSinceMs);
    expect(record.openUntilMs).toBe(from.openUntilMs);
    expect(record.consecutiveFailures).toBe(from.consecutiveFailures);
    expect(livePermits(record, backend.now)).toBe(1);
    expect(record.totalFailures).toBe(0);
    expect(totalsMatchBuckets(record)).toBe(true);
    backend.record = record;
    expect(backend.release(id)).toBe(true);
    backend.record = from;
  });

  it("keeps what was asked for by Retry-After and which triggers are quiet", () => {
    backend.throttle(60000);
    backend.config.enforcing[Trigger.ENGINE_FATAL] = 0;
    backend.file(Outcome.ENGINE_FATAL);
    backend.firstTokens(5, 3);
    const place = changetype<usize>(backend.record);
    adaptRecord(place, recordSize(30), place, 60, backend.now);
    backend.config.slidingWindowSize = 60;
    expect(backend.record.totalFirstTokens).toBe(0);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
    expect(backend.file(Outcome.ENGINE_FATAL)).toBe(0);
    backend.config.enforcing[Trigger.ENGINE_FATAL] = 100;
    backend.wait(30000).open();
    expect(backend.remainingWaitMs()).toBe(30000);
  });

  it("works in place, to more buckets and to fewer", () => {
    backend.file(Outcome.FAILURE, 3);
    const record = backend.record;
    const place = changetype<usize>(record);
    adaptRecord(place, recordSize(30), place, 120, backend.now);
    expect(isRecordValid(place, recordSize(120))).toBe(true);
    expect(record.consecutiveFailures).toBe(3);
    expect(backend.calls()).toBe(0);
    adaptRecord(place, recordSize(120), place, 1, backend.now);
    expect(isRecordValid(place, recordSize(1))).toBe(true);
    expect(totalsMatchBuckets(record)).toBe(true);
    backend.file(Outcome.SUCCESS, 4);
    expect(backend.calls()).toBe(4);
  });

  it("starts a record of the first layout afresh", () => {
    const size = 440 + 30 * 24;
    memory.fill(ptr, 0, size);
    store<u32>(ptr, 0x4c420001);
    store<i32>(ptr, 30, 4);
    store<i32>(ptr, State.OPEN, 64);
    expect(isRecordValid(ptr, size)).toBe(false);
    adaptRecord(ptr, size, ptr, 30, 5);
    expect(isRecordValid(ptr, recordSize(30))).toBe(true);
    expect(changetype<BackendRecord>(ptr).state).toBe(State.CLOSED);
  });

  it("makes a fresh record of bytes that are none", () => {
    const junk = heap.alloc(64);
    memory.fill(junk, 0xab, 64);
    adaptRecord(junk, 64, ptr, 30, 5);
    expect(isRecordValid(ptr, recordSize(30))).toBe(true);
    expect(changetype<BackendRecord>(ptr).generation).toBe(1);
    adaptRecord(junk, 0, ptr, 30, 5);
    expect(isRecordValid(ptr, recordSize(30))).toBe(true);
    heap.free(junk);
  });
});

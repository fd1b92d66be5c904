//! A backend's record with the layout, and the work on it, of filter/breaker: read at the request, changed at its end. What a
//! healthy backend's calls never reach (probes, canaries) is left out.

mod clock;
mod window;

pub use clock::now_ms;

pub const KEY: &str = "bench/backend/gpu";

/// More lost races in a row than this and an update is given up, as in filter/host/shared-data.ts.
pub const MAX_TRIES: u32 = 16;

const LAYOUT_VERSION: u32 = 0x4c42_0003;
const BUCKET_COUNT: usize = 30;

const CLOSED: i32 = 0;
const OPEN: i32 = 1;

const MINIMUM_CALLS: u32 = 10;
const FAILURE_RATE_PERCENT: u64 = 35;
const BACKPRESSURE_RATE_PERCENT: u64 = 80;
const CONSECUTIVE_FAILURES: i32 = 5;
const OUT_OF_MEMORY_FAILURES: u32 = 2;
const FULL_WEIGHT: u32 = 100;
const WAIT_MS: u64 = 5000;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Bucket {
    calls: u32,
    failures: u32,
    weighted_failures: u32,
    backpressure: u32,
    out_of_memory: u32,
    first_tokens: u32,
    slow_calls: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Permit {
    deadline_ms: u64,
    id: u32,
    reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Transition {
    at_ms: u64,
    wait_ms: u64,
    facts: [u32; 10],
}

/// 1776 bytes, little endian, the fields of filter/breaker/record.ts in their order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Record {
    layout_version: u32,
    bucket_count: i32,

    clock_ms: u64,
    state_since_ms: u64,
    open_until_ms: u64,
    probe_lease_until_ms: u64,
    probe_owner: u64,
    last_canary_ms: u64,
    head_start_ms: u64,
    retry_after_until_ms: u64,
    retry_after_told_ms: u64,
    track: u64,

    state: i32,
    stage: i32,
    generation: u32,
    openings: i32,
    last_cause: i32,
    consecutive_failures: i32,
    stage_successes: i32,
    next_permit_id: u32,
    is_evidence: u32,
    is_quiet_by_mode: u32,

    head: i32,
    totals: Bucket,

    quiet_until_ms: [u64; 9],
    permits: [Permit; 16],
    history: [Transition; 8],
    ring: [Bucket; BUCKET_COUNT],
}

impl Record {
    pub fn fresh(now: u64) -> Record {
        Record {
            layout_version: LAYOUT_VERSION,
            bucket_count: BUCKET_COUNT as i32,
            clock_ms: now,
            state_since_ms: now,
            open_until_ms: 0,
            probe_lease_until_ms: 0,
            probe_owner: 0,
            last_canary_ms: 0,
            head_start_ms: now,
            retry_after_until_ms: 0,
            retry_after_told_ms: 0,
            track: 0,
            state: CLOSED,
            stage: 0,
            generation: 1,
            openings: 0,
            last_cause: 0,
            consecutive_failures: 0,
            stage_successes: 0,
            next_permit_id: 0,
            is_evidence: 0,
            is_quiet_by_mode: 0,
            head: 0,
            totals: Bucket::default(),
            quiet_until_ms: [0; 9],
            permits: [Permit::default(); 16],
            history: [Transition::default(); 8],
            ring: [Bucket::default(); BUCKET_COUNT],
        }
    }

    /// The record that these bytes are; None when they are none of this layout.
    pub fn view(bytes: &mut [u8]) -> Option<&mut Record> {
        // Sound for any bytes: each field is an integer.
        let (before, records, after) = unsafe { bytes.align_to_mut::<Record>() };
        let [record] = records else { return None };
        let is_valid = before.is_empty()
            && after.is_empty()
            && record.layout_version == LAYOUT_VERSION
            && record.bucket_count == BUCKET_COUNT as i32
            && (0..=2).contains(&record.state)
            && (0..record.bucket_count).contains(&record.head);
        is_valid.then_some(record)
    }

    pub fn bytes(&self) -> &[u8] {
        unsafe { core::slice::from_raw_parts((self as *const Record).cast(), core::mem::size_of::<Record>()) }
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }

    pub fn is_refusing(&self, now: u64) -> bool {
        self.state == OPEN && now.max(self.clock_ms) < self.open_until_ms
    }

    /// Files a call's end; false when nothing is to be written back: it was admitted before the last transition.
    pub fn on_outcome(&mut self, generation: u32, is_success: bool, now: u64) -> bool {
        self.clock_ms = now.max(self.clock_ms);
        if generation != self.generation {
            return false;
        }
        self.file_call(if is_success { 0 } else { FULL_WEIGHT }, self.clock_ms);
        self.consecutive_failures = if is_success {
            0
        } else {
            self.consecutive_failures.saturating_add(1)
        };
        if self.state == OPEN && is_success {
            self.enter(CLOSED);
        } else if self.has_tripped() {
            self.open_until_ms = self.clock_ms + WAIT_MS;
            self.enter(OPEN);
        }
        true
    }

    fn has_tripped(&self) -> bool {
        let Bucket {
            calls,
            weighted_failures,
            backpressure,
            out_of_memory,
            ..
        } = self.totals;
        let all = u64::from(calls) + u64::from(backpressure);
        is_rate_reached(u64::from(backpressure) * 100, all, BACKPRESSURE_RATE_PERCENT)
            || out_of_memory >= OUT_OF_MEMORY_FAILURES
            || self.consecutive_failures >= CONSECUTIVE_FAILURES
            || is_rate_reached(weighted_failures.into(), calls.into(), FAILURE_RATE_PERCENT)
    }

    fn enter(&mut self, state: i32) {
        self.state = state;
        self.state_since_ms = self.clock_ms;
        self.generation = self.generation.wrapping_add(1).max(1);
        self.consecutive_failures = 0;
        self.clear_ring(self.clock_ms);
    }
}

/// Hundredths against percent: the two factors of 100 cancel out, and nothing is divided.
fn is_rate_reached(hundredths: u64, calls: u64, percent: u64) -> bool {
    hundredths != 0 && calls >= u64::from(MINIMUM_CALLS) && hundredths >= percent * calls
}

//! The sliding window of filter/breaker/window.ts: one-second buckets, subtracted from the totals as they expire.

use crate::{Bucket, Record, BUCKET_COUNT};

const BUCKET_MS: u64 = 1000;

impl Record {
    pub(crate) fn file_call(&mut self, weight: u32, now: u64) {
        self.advance_window(now);
        let bucket = &mut self.ring[self.head as usize % BUCKET_COUNT];
        let totals = &mut self.totals;
        if totals.calls == u32::MAX || totals.weighted_failures > u32::MAX - weight {
            return;
        }
        totals.calls += 1;
        bucket.calls += 1;
        if weight == 0 {
            return;
        }
        totals.failures += 1;
        bucket.failures += 1;
        totals.weighted_failures += weight;
        bucket.weighted_failures += weight;
    }

    pub(crate) fn clear_ring(&mut self, now: u64) {
        self.head = 0;
        self.head_start_ms = now;
        self.totals = Bucket::default();
        self.ring = [Bucket::default(); BUCKET_COUNT];
    }

    fn advance_window(&mut self, now: u64) {
        let elapsed_ms = now.saturating_sub(self.head_start_ms);
        if elapsed_ms < BUCKET_MS {
            return;
        }
        let steps = elapsed_ms / BUCKET_MS;
        if steps >= BUCKET_COUNT as u64 {
            self.clear_ring(now - elapsed_ms % BUCKET_MS);
            return;
        }
        self.head_start_ms += steps * BUCKET_MS;
        for _ in 0..steps {
            self.head = (self.head + 1) % BUCKET_COUNT as i32;
            let expired = core::mem::take(&mut self.ring[self.head as usize]);
            self.totals.subtract(&expired);
        }
    }
}

impl Bucket {
    fn subtract(&mut self, expired: &Bucket) {
        let Bucket {
            calls,
            failures,
            weighted_failures,
            backpressure,
            out_of_memory,
            first_tokens,
            slow_calls,
        } = expired;
        self.calls = self.calls.saturating_sub(*calls);
        self.failures = self.failures.saturating_sub(*failures);
        self.weighted_failures = self.weighted_failures.saturating_sub(*weighted_failures);
        self.backpressure = self.backpressure.saturating_sub(*backpressure);
        self.out_of_memory = self.out_of_memory.saturating_sub(*out_of_memory);
        self.first_tokens = self.first_tokens.saturating_sub(*first_tokens);
        self.slow_calls = self.slow_calls.saturating_sub(*slow_calls);
    }
}

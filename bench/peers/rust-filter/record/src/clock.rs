const MONOTONIC: u32 = 1;

#[link(wasm_import_module = "wasi_snapshot_preview1")]
extern "C" {
    fn clock_time_get(id: u32, precision: u64, time: *mut u64) -> u32;
}

/// Monotonic milliseconds: the same clock for every worker.
pub fn now_ms() -> u64 {
    let mut ns = 0;
    unsafe { clock_time_get(MONOTONIC, 1, &mut ns) };
    ns / 1_000_000
}

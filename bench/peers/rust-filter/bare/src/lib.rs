//! The record's work on the bare ABI, without the SDK: only the callbacks it needs, and no allocation for a request. What
//! somebody would write for whom each microsecond counts, and what our filter is written like.

mod calls;
mod host;

use calls::Call;
use record::{now_ms, Record, MAX_TRIES};

#[no_mangle]
pub extern "C" fn proxy_abi_version_0_2_1() {}

#[no_mangle]
pub extern "C" fn proxy_on_vm_start(_root: u32, _size: u32) -> u32 {
    1
}

#[no_mangle]
pub extern "C" fn proxy_on_configure(_root: u32, _size: u32) -> u32 {
    host::begin();
    if host::read_record().is_none() {
        host::write_record(Record::fresh(now_ms()).bytes(), 0);
    }
    1
}

#[no_mangle]
pub extern "C" fn proxy_on_context_create(id: u32, parent: u32) {
    if parent != 0 {
        calls::insert(id, Call::default());
    }
}

#[no_mangle]
pub extern "C" fn proxy_on_request_headers(id: u32, _count: u32, _is_end: u32) -> u32 {
    host::begin();
    let Some(call) = calls::find(id) else { return host::CONTINUE };
    let Some((bytes, _)) = host::read_record() else {
        return host::CONTINUE;
    };
    let Some(record) = Record::view(bytes) else {
        return host::CONTINUE;
    };
    if record.is_refusing(now_ms()) {
        host::refuse(b"the backend is out of service");
        return host::PAUSE;
    }
    call.generation = record.generation();
    host::CONTINUE
}

#[no_mangle]
pub extern "C" fn proxy_on_response_headers(id: u32, _count: u32, _is_end: u32) -> u32 {
    host::begin();
    if let Some(call) = calls::find(id) {
        call.is_success = host::response_status().is_some_and(|status| status.starts_with(b"2"));
    }
    host::CONTINUE
}

#[no_mangle]
pub extern "C" fn proxy_on_done(id: u32) -> u32 {
    host::begin();
    if let Some(call) = calls::remove(id).filter(|call| call.generation != 0) {
        file(call);
    }
    1
}

fn file(call: Call) {
    let now = now_ms();
    for _ in 0..MAX_TRIES {
        let Some((bytes, cas)) = host::read_record() else { return };
        let Some(record) = Record::view(bytes) else { return };
        if !record.on_outcome(call.generation, call.is_success, now) {
            return;
        }
        if host::write_record(record.bytes(), cas) {
            return;
        }
    }
}

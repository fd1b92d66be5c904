//! The host's functions, and the scratch memory in which it puts what they give.

use record::KEY;

pub const CONTINUE: u32 = 0;
pub const PAUSE: u32 = 1;

const OK: u32 = 0;
const CAS_MISMATCH: u32 = 8;
const RESPONSE_HEADERS: u32 = 2;
const STATUS: &[u8] = b":status";
const NO_GRPC_STATUS: i32 = -1;
const SCRATCH_SIZE: usize = 1 << 16;

#[link(wasm_import_module = "env")]
extern "C" {
    fn proxy_get_shared_data(key: *const u8, key_size: usize, value: *mut *mut u8, size: *mut usize, cas: *mut u32) -> u32;
    fn proxy_set_shared_data(key: *const u8, key_size: usize, value: *const u8, size: usize, cas: u32) -> u32;
    fn proxy_get_header_map_value(map: u32, key: *const u8, key_size: usize, value: *mut *mut u8, size: *mut usize) -> u32;
    fn proxy_send_local_response(
        status: u32,
        details: *const u8,
        details_size: usize,
        body: *const u8,
        body_size: usize,
        headers: *const u8,
        headers_size: usize,
        grpc_status: i32,
    ) -> u32;
}

#[repr(C, align(16))]
struct Scratch([u8; SCRATCH_SIZE]);

// A VM has one thread.
static mut SCRATCH: Scratch = Scratch([0; SCRATCH_SIZE]);
static mut TOP: usize = 0;

/// A callback begins: what the host gave in the one before is of no use any more.
pub fn begin() {
    unsafe { TOP = 0 };
}

#[no_mangle]
pub extern "C" fn proxy_on_memory_allocate(size: usize) -> *mut u8 {
    unsafe {
        let at = (TOP + 15) & !15;
        if size > SCRATCH_SIZE - at {
            return core::ptr::null_mut();
        }
        TOP = at + size;
        (&raw mut SCRATCH.0).cast::<u8>().add(at)
    }
}

/// A copy of the record in scratch memory, and its version.
pub fn read_record() -> Option<(&'static mut [u8], u32)> {
    let (mut at, mut size, mut cas) = (core::ptr::null_mut(), 0, 0);
    let status = unsafe { proxy_get_shared_data(KEY.as_ptr(), KEY.len(), &mut at, &mut size, &mut cas) };
    if status != OK || at.is_null() {
        return None;
    }
    Some((unsafe { core::slice::from_raw_parts_mut(at, size) }, cas))
}

/// False when another worker wrote since `cas` was read.
pub fn write_record(bytes: &[u8], cas: u32) -> bool {
    let status = unsafe { proxy_set_shared_data(KEY.as_ptr(), KEY.len(), bytes.as_ptr(), bytes.len(), cas) };
    status != CAS_MISMATCH
}

pub fn response_status() -> Option<&'static [u8]> {
    let (mut at, mut size) = (core::ptr::null_mut(), 0);
    let (key, length) = (STATUS.as_ptr(), STATUS.len());
    let status = unsafe { proxy_get_header_map_value(RESPONSE_HEADERS, key, length, &mut at, &mut size) };
    if status != OK || at.is_null() {
        return None;
    }
    Some(unsafe { core::slice::from_raw_parts(at, size) })
}

pub fn refuse(body: &[u8]) {
    let none = core::ptr::null();
    unsafe { proxy_send_local_response(503, none, 0, body.as_ptr(), body.len(), none, 0, NO_GRPC_STATUS) };
}

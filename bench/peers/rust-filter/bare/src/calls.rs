//! The state of each live stream by its context's id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Clone, Copy, Default)]
pub struct Call {
    pub generation: u32,
    pub is_success: bool,
}

/// The host counts ids up, so they are spread well once multiplied by an odd number.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("ids are u32")
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

type Calls = HashMap<u32, Call, BuildHasherDefault<IdHasher>>;

// A VM has one thread.
static mut CALLS: Option<Calls> = None;

fn calls() -> &'static mut Calls {
    let calls = &raw mut CALLS;
    unsafe { (*calls).get_or_insert_with(Calls::default) }
}

pub fn insert(id: u32, call: Call) {
    calls().insert(id, call);
}

pub fn find(id: u32) -> Option<&'static mut Call> {
    calls().get_mut(&id)
}

pub fn remove(id: u32) -> Option<Call> {
    calls().remove(&id)
}

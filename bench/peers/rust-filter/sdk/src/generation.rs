//! What one position tells the other of a request: filter state that lives as long as the request does.

use proxy_wasm::hostcalls::{call_foreign_function, get_property, set_property};

const NAME: &str = "bench.generation";

/// Protobuf of Envoy's DeclarePropertyArguments: the name, type string, span of the downstream request.
pub fn declare() {
    let mut argument = vec![0x0a, NAME.len() as u8];
    argument.extend_from_slice(NAME.as_bytes());
    argument.extend_from_slice(&[0x18, 1, 0x28, 1]);
    let _ = call_foreign_function("declare_property", Some(&argument));
}

pub fn write(generation: u32) {
    let _ = set_property(vec![NAME], Some(&generation.to_le_bytes()));
}

/// 0 = the request was not admitted.
pub fn read() -> u32 {
    let Ok(Some(bytes)) = get_property(vec![NAME]) else { return 0 };
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

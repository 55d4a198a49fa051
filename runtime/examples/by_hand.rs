//! A layout written by hand: what generated code consists of, in small. A wrong size, alignment or offset does not compile.
//!
//!     cargo run -p etw-layouts-runtime --example by_hand

use etw_layouts_runtime as runtime;
use runtime::{Ptr64, bytemuck};

/// A driver's list of requests, on x64.
#[derive(Clone, Copy)]
#[repr(C)]
struct Requests {
    first: Ptr64,
    count: u32,
    /// Two flags, and the processor in the upper 16 bits.
    state: u32,
}

// SAFETY: every member is listed.
runtime::layout!(unsafe struct Requests, 0x10, 8, [first = 0x0, count = 0x8, state = 0xC]);

impl Requests {
    fn processor(&self) -> u64 {
        runtime::bits(self, 0xC, 4, 16, 16)
    }
}

fn main() {
    let memory = [0, 0x10, 0xAB, 0xCD, 0, 0xF8, 0xFF, 0xFF, 2, 0, 0, 0, 1, 0, 5, 0];
    let requests: Requests = bytemuck::pod_read_unaligned(&memory);
    println!("{} requests from {:?} on, processor {}", requests.count, requests.first, requests.processor());
    assert_eq!((requests.count, requests.processor()), (2, 5));
}

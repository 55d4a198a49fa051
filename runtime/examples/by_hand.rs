//! A handwritten layout, in the form of generated code. A wrong size, alignment or offset does not compile.
//!
//!     cargo run -p etw-layouts-runtime --example by_hand

use etw_layouts_runtime::{Ptr64, bytemuck, layout};

layout! {
    /// A driver's list of requests, on x64.
    pub struct Requests: REQUESTS, 0x10, 8 {
        0x00 first: Ptr64 = "REQUEST *", "The first request.";
        0x08 count: u32 = "ULONG", "Number of requests.";
        0x0C state: u32, "Bit fields, which have accessors." {
            0x0C [0] closed set_closed: u32 = "ULONG", "Whether the list accepts no more requests.";
            0x0C [16 to 31] processor set_processor: u32 = "ULONG", "The processor that handles them.";
        }
    }
}

fn main() {
    let memory = [0, 0x10, 0xAB, 0xCD, 0, 0xF8, 0xFF, 0xFF, 2, 0, 0, 0, 1, 0, 5, 0];
    let requests: Requests = bytemuck::pod_read_unaligned(&memory);
    println!("{} requests from {:?} on, processor {}", requests.count, requests.first, requests.processor());
    assert_eq!((requests.count, requests.processor(), requests.closed()), (2, 5, 1));
    println!("{requests:#?}");
}

//! Members that are not plain old data.

use etw_layouts_runtime::{Bytes, layout};

layout! {
    /// Zero is no function.
    pub struct Function: 0x8, 8 {
        0x00 call: fn() = "VOID (*) (VOID)", "A function.";
    }
}

layout! {
    /// Two is no truth.
    pub struct Truth: 0x1, 1 {
        0x00 flag: bool = "BOOLEAN", "A flag.";
    }
}

layout! {
    /// The letters of a set are not all numbers.
    pub union Letter: 0x4, 4 {
        0x00 letter: char = "ULONG", "A letter.";
        0x00 short: Bytes<u8, 4> = "UCHAR", "A short branch.";
    }
}

fn main() {}

//! A macro of the caller cannot replace a macro that `layout!` uses for its checks.

use etw_layouts_runtime::layout;

macro_rules! stringify {
    ($word:tt) => {
        "struct"
    };
}

layout! {
    /// As a structure it would be full.
    pub union Empty: 0x4, 4 {
        0x00 none: [u8; 0] = "UCHAR [0]", "No bytes.";
        0x00 whole: u32 = "ULONG", "All.";
    }
}

fn main() {}

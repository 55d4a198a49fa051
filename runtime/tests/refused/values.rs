//! Existing types, and attributes.

use etw_layouts_runtime::values;

/// A type that already exists.
#[derive(Clone, Copy)]
struct There(&'static str);

values!(value There, "", &[]);

etw_layouts_runtime::layout!(unsafe struct There, 0x10, 8, [0 = 0x0]);

etw_layouts_runtime::layout! {
    /// Attributes other than documentation change a layout.
    #[repr(packed)]
    pub struct Packed: 0x1, 1 {
        0x00 kind: u8 = "UCHAR", "A kind.";
    }
}

fn main() {}

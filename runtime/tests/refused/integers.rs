//! Values of types that are not integers.

use etw_layouts_runtime::values;

values! {
    /// A function.
    pub value CALL: fn() = "CALL" {}
}

values! {
    /// A Boolean value.
    pub value TRUTH: bool = "TRUTH" {}
}

fn main() {}

//! Handwritten items with correct numbers. The test is that they compile.

#![allow(dead_code)]

use etw_layouts_macros::layout;
use etw_layouts_runtime::Ptr64;

#[derive(Clone, Copy)]
#[layout(size = 0x0d, align = 1)]
#[repr(C, packed)]
pub struct Packed {
    #[offset(0x00)]
    kind: u8,
    #[offset(0x01)]
    length: u32,
    #[offset(0x05)]
    time: u64,
}

/// The attribute precedes `derive`. A member with `cfg` does not exist.
#[layout(size = 0x10, align = 16)]
#[cfg(target_pointer_width = "64")]
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Aligned {
    /// A pointer to other items.
    #[offset(0x00)]
    pub next: Option<&'static [Self; 2]>,
    #[cfg(any())]
    #[offset(0x77)]
    absent: u32,
    #[offset(0x08)]
    pub word: Word,
}

#[layout(size = 8, align = 8)]
#[repr(C)]
#[derive(Clone, Copy)]
pub union Word {
    whole: u64,
    #[offset(0)]
    halves: [u32; 2],
    address: Ptr64,
}

#[layout(size = 0x08, align = 4)]
#[repr(C)]
pub struct Unnamed(#[offset(0x00)] u16, #[offset(0x04)] pub u32);

macro_rules! by_macro {
    ($name:ident, $ty:ty, $size:literal) => {
        #[layout(size = $size, align = 4)]
        #[repr(C)]
        pub struct $name {
            #[offset(0x00)]
            first: $ty,
        }
    };
}

by_macro!(FromMacro, u32, 4);

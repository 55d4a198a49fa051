//! Wrong numbers in handwritten structures.

use etw_layouts_macros::layout;

#[layout(size = 0x18, align = 8)]
#[repr(C)]
struct WrongSize {
    #[offset(0x00)]
    magic: u32,
    #[offset(0x04)]
    length: u32,
    #[offset(0x08)]
    time: u64,
}

#[layout(size = 0x08, align = 8)]
#[repr(C)]
struct WrongAlignment {
    #[offset(0x00)]
    magic: u32,
    #[offset(0x04)]
    length: u32,
}

#[layout(size = 0x0c, align = 4)]
#[repr(C)]
struct WrongOffset {
    #[offset(0x00)]
    magic: u32,
    #[offset(0x06)]
    version: u16,
    #[offset(0x08)]
    length: u32,
}

#[layout(size = 0x08, align = 4)]
#[repr(C)]
struct Overlap {
    #[offset(0x00)]
    magic: u32,
    #[offset(0x02)]
    length: u32,
}

fn main() {}

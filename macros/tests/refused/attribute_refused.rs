//! Items without a single layout, and incomplete attributes.

use etw_layouts_macros::layout;

#[layout(size = 0x08, align = 8)]
struct NoRepresentation {
    #[offset(0x00)]
    magic: u64,
}

#[layout(size = 0x08, align = 8)]
#[repr(C)]
struct Generic<T> {
    #[offset(0x00)]
    magic: T,
}

#[layout(size = 0x08)]
#[repr(C)]
struct NoAlignment {
    #[offset(0x00)]
    magic: u64,
}

#[layout(align = 8)]
#[repr(C)]
struct NoSize {
    #[offset(0x00)]
    magic: u64,
}

#[layout()]
#[repr(C)]
struct Neither(#[offset(0x00)] u64);

#[layout(size = 0x08, align = 8)]
#[repr(C)]
struct NoOffsetNoName(u64);

#[layout(size = 0x08, align = 4)]
#[repr(C)]
struct NoOffset {
    #[offset(0x00)]
    magic: u32,
    length: u32,
    #[offset(eight)]
    time: u64,
}

#[layout(size = 0x08, align = 8, size = 0x10)]
#[repr(C)]
struct SizeTwice {
    #[offset(0x00)]
    magic: u64,
}

#[layout(size = 0x08, align = 4)]
#[repr(C)]
struct Numbers {
    #[offset(0x00)]
    #[offset(0x04)]
    magic: u32,
    #[offset(0x1_0000_0000_0000_0004)]
    length: u16,
    #[offset(0x06u8)]
    kind: u8,
    #[offset(-7)]
    flags: u8,
}

#[layout(size = 0x04, align = 4)]
#[repr(C)]
enum State {
    Free,
}

fn main() {}

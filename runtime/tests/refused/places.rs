//! Members at other offsets than stated, and bytes that belong to no member.

use etw_layouts_runtime::layout;

layout! {
    /// The compiler would leave three bytes out.
    pub struct Between: 0x8, 4 {
        0x00 kind: u8 = "UCHAR", "A kind.";
        0x04 count: u32 = "ULONG", "A count.";
    }
}

layout! {
    /// The compiler would leave three bytes out.
    pub struct Behind: 0x8, 4 {
        0x00 count: u32 = "ULONG", "A count.";
        0x04 kind: u8 = "UCHAR", "A kind.";
    }
}

layout! {
    /// A branch is shorter than the union.
    pub union Short: 0x4, 4 {
        0x00 whole: u32 = "ULONG", "All.";
        0x00 half: u16 = "USHORT", "Half.";
    }
}

layout! {
    /// The second member is elsewhere.
    pub struct Elsewhere: 0x8, 4 {
        0x00 first: u32 = "ULONG", "The first.";
        0x08 second: u32 = "ULONG", "The second.";
    }
}

layout! {
    /// The size is another.
    pub struct Size: 0x10, 4 {
        0x00 first: u32 = "ULONG", "The first.";
    }
}

fn main() {}

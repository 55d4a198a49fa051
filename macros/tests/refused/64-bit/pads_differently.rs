//! A structure of 32-bit Windows, with pointers of the host, which are longer.

use etw_layouts_macros::layout;

#[layout(size = 0x08, align = 4)]
#[repr(C)]
struct Entry {
    #[offset(0x00)]
    signature: u32,
    #[offset(0x04)]
    next: *mut Entry,
}

fn main() {}

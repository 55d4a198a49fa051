//! The generated types that occur in a dump. They are the same in every version that has them, so the newest is used for all.
//! The exception is the list of pages of a summary dump, last written by Windows 7.

pub use etw_layouts::win7::x64::SUMMARY_DUMP64;
pub use etw_layouts::win7::x86::SUMMARY_DUMP32;
pub use etw_layouts::win10_2004::x64::{
    DUMP_BLOB_FILE_HEADER, DUMP_BLOB_HEADER, DUMP_HEADER64, ETW_DUMP_HEADER, ETW_DUMP_SESSION, KDDEBUGGER_DATA64,
    PHYSICAL_MEMORY_DESCRIPTOR64, PHYSICAL_MEMORY_RUN64, RDMP_HEADER64, RSDS, SUMMARY_DUMP64 as SUMMARY_DUMP64_6_2,
    TRIAGE_DATA_BLOCK, TRIAGE_DUMP64,
};
pub use etw_layouts::win10_2004::x86::{DUMP_HEADER32, PHYSICAL_MEMORY_DESCRIPTOR32, PHYSICAL_MEMORY_RUN32, TRIAGE_DUMP32};

use bytemuck::Pod;

/// A structure at an offset; `None` if the bytes are truncated.
pub fn view<T: Pod>(bytes: &[u8], at: usize) -> Option<T> {
    let end = at.checked_add(size_of::<T>())?;
    bytes.get(at..end).map(bytemuck::pod_read_unaligned)
}

/// The pointers of a size in bytes, 4 or 8, that the bytes contain one after the other.
pub fn pointers(bytes: &[u8], size: usize) -> impl Iterator<Item = u64> + Clone + '_ {
    bytes.chunks_exact(size).map(move |bytes| {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    })
}

/// A signature of four letters, as a number.
pub const fn letters(letters: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*letters)
}

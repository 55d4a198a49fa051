//! The generated types that occur in trace files, and the versions that write each of them.
//!
//! Except for the buffer header and the instance header, the parts of these types that files contain are the same in every
//! version that has them. The newest type is therefore used for all versions.

pub use etw_layouts::constants::{
    ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG, EVENT_TRACE_CLOCK, EVENT_TRACE_GROUP,
    EVENT_TRACE_TYPE, HOOK_ID, LOG_FILE_MODE, TRACE_HEADER_TYPE, TRACE_MESSAGE_FLAG,
};
pub use etw_layouts::runtime::{Arch, Build};
pub use etw_layouts::win10_2004::x64::{
    ETW_BUFFER_CONTEXT, ETW_BUFFER_STATE, EVENT_DESCRIPTOR, EVENT_HEADER, EVENT_HEADER_EXTENDED_DATA_ITEM,
    EVENT_INSTANCE_GUID_HEADER, EVENT_TRACE_HEADER, GUID, LARGE_INTEGER, MESSAGE_TRACE_HEADER, PERFINFO_TRACE_HEADER,
    RTL_TIME_ZONE_INFORMATION, SYSTEM_TRACE_HEADER, WMI_TRACE_MESSAGE_PACKET, WMI_TRACE_PACKET, WNODE_HEADER,
};
pub use etw_layouts::winxp_sp3::x86::EVENT_INSTANCE_HEADER;

/// TRACE_LOGFILE_HEADER as 32-bit producers write it.
pub type LogFileHeader32 = etw_layouts::win10_2004::x86::TRACE_LOGFILE_HEADER;
/// TRACE_LOGFILE_HEADER as 64-bit producers write it.
pub type LogFileHeader64 = etw_layouts::win10_2004::x64::TRACE_LOGFILE_HEADER;

/// WMI_BUFFER_HEADER up to 5.1: begins with a WNODE_HEADER, without flags.
pub type BufferHeader51 = etw_layouts::winxp_sp3::x86::WMI_BUFFER_HEADER;
/// WMI_BUFFER_HEADER of 5.2: begins with a WNODE_HEADER, with flags.
pub type BufferHeader52 = etw_layouts::win2003_sp2::x86::WMI_BUFFER_HEADER;
/// WMI_BUFFER_HEADER of 6.0.
pub type BufferHeader60 = etw_layouts::vista_sp2::x64::WMI_BUFFER_HEADER;
/// WMI_BUFFER_HEADER of 6.1 and later. Later versions and other architectures differ only in pointers, which are meaningful only
/// in memory.
pub type BufferHeader61 = etw_layouts::win10_2004::x64::WMI_BUFFER_HEADER;

use bytemuck::Pod;
use etw_layouts_payload::Uuid;

/// Size of every buffer header, in bytes.
pub const BUFFER_HEADER: usize = size_of::<BufferHeader61>();
/// Size of a complete SYSTEM_TRACE_HEADER, in bytes.
pub const SYSTEM: usize = size_of::<SYSTEM_TRACE_HEADER>();
/// Size of a SYSTEM_TRACE_HEADER in its compact form, up to KernelTime, in bytes.
pub const COMPACT: usize = core::mem::offset_of!(SYSTEM_TRACE_HEADER, KernelTime);
/// Size of a PERFINFO_TRACE_HEADER without its data, in bytes.
pub const PERFINFO: usize = core::mem::offset_of!(PERFINFO_TRACE_HEADER, Data);
/// Size of an extended item without its data, in bytes.
pub const ITEM: usize = core::mem::offset_of!(EVENT_HEADER_EXTENDED_DATA_ITEM, DataPtr);

/// Form of the version-dependent headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// 5.0 and 5.1: buffers begin with a WNODE_HEADER and have no flags; instances are EVENT_INSTANCE_HEADER.
    V5_1,
    /// 5.2: buffers begin with a WNODE_HEADER.
    V5_2,
    /// 6.0.
    V6_0,
    /// 6.1 and later.
    V6_1,
}

impl Generation {
    /// The generation of a Windows version.
    pub fn from_version(major: u32, minor: u32) -> Self {
        match (major, minor) {
            (..=4, _) | (5, ..=1) => Self::V5_1,
            (5, _) => Self::V5_2,
            (6, 0) => Self::V6_0,
            _ => Self::V6_1,
        }
    }
}

/// A structure from the first `length` bytes, the rest zero; `None` if there are fewer bytes.
pub(crate) fn prefix<T: Pod>(bytes: &[u8], length: usize) -> Option<T> {
    let mut value = T::zeroed();
    bytemuck::bytes_of_mut(&mut value).get_mut(..length)?.copy_from_slice(bytes.get(..length)?);
    Some(value)
}

/// A structure at the start of bytes; all zero if there are too few bytes. The iteration over events ensures that there are enough.
pub(crate) fn view<T: Pod>(bytes: &[u8]) -> T {
    match bytes.get(..size_of::<T>()) {
        Some(bytes) => bytemuck::pod_read_unaligned(bytes),
        None => T::zeroed(),
    }
}

/// The next multiple of eight, for the size of an existing range of bytes.
#[inline]
pub(crate) const fn align8(value: usize) -> usize {
    (value + 7) & !7
}

/// A LARGE_INTEGER with a value.
pub fn large(value: i64) -> LARGE_INTEGER {
    bytemuck::cast(value)
}

/// The value of a LARGE_INTEGER.
pub fn quad(value: LARGE_INTEGER) -> i64 {
    bytemuck::cast(value)
}

/// The identifier in a generated GUID.
pub fn guid(guid: GUID) -> Uuid {
    Uuid::from_bytes_le(bytemuck::cast(guid))
}

/// The generated GUID of an identifier.
pub fn wire_guid(guid: Uuid) -> GUID {
    bytemuck::cast(guid.to_bytes_le())
}

/// An all-zero value.
pub fn zero<T: Pod>() -> T {
    T::zeroed()
}

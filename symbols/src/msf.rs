//! The header of the containers that program databases come in.

use crate::little_endian::{u16_at, u32_at};

/// What a container of Visual C++ 7.0 and later begins with.
pub(crate) const MSF_7: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";
/// What an earlier one begins with.
pub(crate) const MSF_2: &[u8] = b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0";
/// What a compressed one begins with.
pub(crate) const MSFZ: &[u8] = b"Microsoft MSFZ Container\r\n\x1aALD\0\0";

/// The bytes that hold the header.
#[cfg(feature = "store")]
pub(crate) const HEADER: usize = 56;

/// The header of an MSF 7.00 or 2.00.
#[cfg_attr(not(feature = "store"), expect(dead_code, reason = "tables are read by a library that looks at the header again"))]
pub(crate) struct Header {
    /// Bytes of a page; a power of two.
    pub page_size: u32,
    /// Bytes of the directory of streams.
    pub directory: u32,
    /// The page that lists the pages of the directory, in an MSF 7.00.
    pub map: u32,
}

/// Why a header is none that can be relied on.
pub(crate) enum Fault {
    /// The file ends before its header does.
    Short,
    /// Pages of so many bytes.
    PageSize(u32),
    /// The file ends before the last of its pages, and should have so many bytes.
    CutShort(u64),
}

impl Header {
    /// The header of a file of so many bytes, from its first [`HEADER`] bytes, of which the magic is known already.
    pub fn read(start: &[u8], length: u64) -> Result<Header, Fault> {
        let old = start.starts_with(MSF_2);
        let fields = || {
            Some(match old {
                true => [u32_at(start, 44)?, u16_at(start, 50)?.into(), u32_at(start, 52)?, 0],
                false => [u32_at(start, 32)?, u32_at(start, 40)?, u32_at(start, 44)?, u32_at(start, 52)?],
            })
        };
        let [page_size, pages, directory, map] = fields().ok_or(Fault::Short)?;
        if !page_size.is_power_of_two() || !(256..=1 << 16).contains(&page_size) {
            return Err(Fault::PageSize(page_size));
        }
        let whole = u64::from(page_size) * u64::from(pages);
        if length < whole {
            return Err(Fault::CutShort(whole));
        }
        Ok(Header { page_size, directory, map })
    }
}

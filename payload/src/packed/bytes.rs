//! Numbers, strings and records in the bytes of a library.

/// A number of 8 bits; 0 after the end.
#[inline]
pub(super) fn u8_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// A number of 16 bits; 0 after the end.
#[inline]
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// A number of 32 bits; 0 after the end.
#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// A number of 64 bits; 0 after the end.
#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The record with an index, among records of equal size that begin at an offset.
#[inline]
pub(super) fn record<const SIZE: usize>(bytes: &[u8], start: u32, index: u32) -> Option<&[u8; SIZE]> {
    let at = (start as usize).checked_add((index as usize).checked_mul(SIZE)?)?;
    bytes.get(at..)?.first_chunk()
}

/// The number of records at an offset: the stated number, limited to those that fit.
pub(super) fn bounded(bytes: &[u8], start: u32, stated: u32, size: usize) -> u32 {
    let room = bytes.len().saturating_sub(start as usize) / size;
    stated.min(u32::try_from(room).unwrap_or(u32::MAX))
}

/// The string at an offset; `None` if it is not within the bytes, or not UTF-8.
#[inline]
pub(super) fn string(bytes: &[u8], at: u32) -> Option<&str> {
    if at == super::format::NONE {
        return Some("");
    }
    let mut rest = bytes.get(at as usize..)?;
    let mut length = 0;
    for shift in [0, 7, 14, 21] {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        length |= usize::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return core::str::from_utf8(rest.get(..length)?).ok();
        }
    }
    None
}

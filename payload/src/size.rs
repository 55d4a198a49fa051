//! Sizes of values in payloads.

use crate::fault::FaultKind;
use crate::types::{InType, OutType};

/// The pointer size of a payload: that of the process or kernel that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerSize {
    /// Four bytes.
    Bits32,
    /// Eight bytes.
    Bits64,
}

impl PointerSize {
    /// The size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }
}

/// The size in bytes of all values of a type; 0 if the size varies.
#[inline]
pub(crate) const fn fixed(in_type: InType, pointers: PointerSize) -> usize {
    match in_type {
        InType::INT8 | InType::UINT8 | InType::ANSICHAR => 1,
        InType::INT16 | InType::UINT16 | InType::UNICODECHAR => 2,
        InType::INT32 | InType::UINT32 | InType::HEXINT32 | InType::FLOAT | InType::BOOLEAN => 4,
        InType::INT64 | InType::UINT64 | InType::HEXINT64 | InType::DOUBLE | InType::FILETIME => 8,
        InType::GUID | InType::SYSTEMTIME => 16,
        InType::POINTER | InType::SIZET => pointers.bytes(),
        _ => 0,
    }
}

/// The size in bytes of a character, for a field that is a character or an array of characters.
pub(crate) fn character(in_type: InType, out_type: OutType) -> Option<usize> {
    match (in_type, out_type) {
        (InType::INT8 | InType::UINT8, OutType::STRING) | (InType::ANSICHAR, _) => Some(1),
        (InType::UINT16, OutType::STRING) | (InType::UNICODECHAR, _) => Some(2),
        _ => None,
    }
}

/// Splits a value without a fixed size from the bytes after it. `length` is the length stated by the field. A string without a terminator
/// extends to the end of the bytes. An empty string can be missing if it is the last field (`is_last`); elsewhere this is an error.
#[inline]
pub(crate) fn split(
    types: (InType, OutType),
    length: Option<usize>,
    bytes: &[u8],
    pointers: PointerSize,
    is_last: bool,
) -> Result<(&[u8], &[u8]), FaultKind> {
    let Extent { before, length, behind } = extent(types, length, bytes, pointers, is_last)?;
    let value = bytes.get(before..).and_then(|bytes| bytes.get(..length)).ok_or(FaultKind::Payload)?;
    Ok((value, bytes.get(before + length + behind..).unwrap_or_default()))
}

/// The extent of a value.
struct Extent {
    /// Bytes before the value: its length, or pointers.
    before: usize,
    /// Bytes of the value.
    length: usize,
    /// Bytes after the value: a terminator.
    behind: usize,
}

/// The extent of the value at the start of `rest`. It can exceed `rest`.
fn extent(
    (in_type, out_type): (InType, OutType),
    length: Option<usize>,
    rest: &[u8],
    pointers: PointerSize,
    is_last: bool,
) -> Result<Extent, FaultKind> {
    let plain = |length| Extent { before: 0, length, behind: 0 };
    let unterminated = |length| if length > 0 || is_last { Ok(plain(length)) } else { Err(FaultKind::Payload) };
    Ok(match (in_type, length) {
        (InType::UNICODESTRING, Some(length)) => plain(length.saturating_mul(2)),
        (InType::UNICODESTRING, None) => match wide_terminator(rest) {
            Some(length) => Extent { before: 0, length, behind: 2 },
            None if is_last || rest.len().is_multiple_of(2) => unterminated(rest.len() & !1)?,
            None => return Err(FaultKind::Payload),
        },
        (InType::ANSISTRING, None) => match terminator(rest) {
            Some(length) => Extent { before: 0, length, behind: 1 },
            None => unterminated(rest.len())?,
        },
        (InType::BINARY, None) if out_type == OutType::IPV6 => plain(16),
        (InType::BINARY | InType::NONNULLTERMINATEDANSISTRING, None) => plain(rest.len()),
        (InType::NONNULLTERMINATEDSTRING, None) => plain(rest.len() & !1),
        (InType::ANSISTRING | InType::BINARY | InType::NONNULLTERMINATEDANSISTRING, Some(length)) => plain(length),
        (InType::NONNULLTERMINATEDSTRING, Some(length)) => plain(length.saturating_mul(2)),
        (
            InType::MANIFEST_COUNTEDSTRING
            | InType::MANIFEST_COUNTEDANSISTRING
            | InType::MANIFEST_COUNTEDBINARY
            | InType::COUNTEDSTRING
            | InType::COUNTEDANSISTRING,
            _,
        ) => Extent { before: 2, length: u16::from_le_bytes(first(rest)?).into(), behind: 0 },
        (InType::REVERSEDCOUNTEDSTRING | InType::REVERSEDCOUNTEDANSISTRING, _) => {
            Extent { before: 2, length: u16::from_be_bytes(first(rest)?).into(), behind: 0 }
        }
        (InType::HEXDUMP, _) => Extent { before: 4, length: u32::from_le_bytes(first(rest)?) as usize, behind: 0 },
        (InType::SID, _) => plain(sid(rest)?),
        // A TOKEN_USER, two words of the size of pointers, and the SID that it pointed to; or 32 zero bits if there is none.
        (InType::WBEMSID, _) => match first::<4>(rest)? {
            [0, 0, 0, 0] => Extent { before: 4, length: 0, behind: 0 },
            _ => {
                let before = 2 * pointers.bytes();
                Extent { before, length: sid(rest.get(before..).unwrap_or_default())?, behind: 0 }
            }
        },
        _ => return Err(FaultKind::Type(in_type.0)),
    })
}

/// The size in bytes of the SID at the start of `rest`.
fn sid(rest: &[u8]) -> Result<usize, FaultKind> {
    first::<2>(rest).map(|[_, parts]| 8 + 4 * usize::from(parts))
}

fn first<const N: usize>(rest: &[u8]) -> Result<[u8; N], FaultKind> {
    rest.first_chunk().copied().ok_or(FaultKind::Payload)
}

/// Number of bytes before the first zero byte.
fn terminator(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let words = bytes.chunks_exact(8).position(|word| {
        let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        word.wrapping_sub(ONES) & !word & (ONES << 7) != 0
    });
    let start = 8 * words.unwrap_or(bytes.len() / 8);
    bytes[start..].iter().position(|byte| *byte == 0).map(|at| start + at)
}

/// Number of bytes before the first UTF-16 unit that is zero.
fn wide_terminator(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0001_0001_0001_0001;
    let words = bytes.chunks_exact(8).position(|word| {
        let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        word.wrapping_sub(ONES) & !word & (ONES << 15) != 0
    });
    let start = 8 * words.unwrap_or(bytes.len() / 8);
    bytes[start..].chunks_exact(2).position(|unit| *unit == [0, 0]).map(|at| start + 2 * at)
}

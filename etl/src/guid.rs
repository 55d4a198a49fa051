//! Identifiers.

use crate::wire::GUID;
use std::fmt;

/// A GUID as one number, whose hexadecimal digits are those of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Guid(pub u128);

impl From<GUID> for Guid {
    fn from(guid: GUID) -> Self {
        let first = u128::from(guid.Data1) << 96 | u128::from(guid.Data2) << 80 | u128::from(guid.Data3) << 64;
        Self(first | u128::from(u64::from_be_bytes(guid.Data4)))
    }
}

impl From<Guid> for GUID {
    fn from(Guid(number): Guid) -> Self {
        let mut guid: Self = crate::wire::zero();
        guid.Data1 = (number >> 96) as u32;
        guid.Data2 = (number >> 80) as u16;
        guid.Data3 = (number >> 64) as u16;
        guid.Data4 = (number as u64).to_be_bytes();
        guid
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0;
        write!(f, "{:08x}-{:04x}-{:04x}-{:04x}-", n >> 96, n >> 80 & 0xFFFF, n >> 64 & 0xFFFF, n >> 48 & 0xFFFF)?;
        write!(f, "{:012x}", n & 0xFFFF_FFFF_FFFF)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

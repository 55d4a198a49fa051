//! Identifiers.

use crate::wire::GUID;
use std::fmt;
use std::str::FromStr;

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

/// The text of a GUID, with or without braces, in capital letters or small ones.
impl FromStr for Guid {
    type Err = NoGuid;

    fn from_str(text: &str) -> Result<Self, NoGuid> {
        let bare = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let mut number = 0;
        let mut parts = bare.split('-');
        for digits in [8, 4, 4, 4, 12] {
            let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
            number = number << (4 * digits) | u128::from_str_radix(part.ok_or(NoGuid)?, 16).map_err(|_| NoGuid)?;
        }
        if parts.next().is_none() { Ok(Self(number)) } else { Err(NoGuid) }
    }
}

/// That a text is no GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoGuid;

impl fmt::Display for NoGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a GUID such as 68fdd900-4a3e-11d1-84f4-0000f80464e3")
    }
}

impl std::error::Error for NoGuid {}

impl Guid {
    /// The 36 characters of its text.
    pub fn digits(self) -> [u8; 36] {
        let mut text = [b'-'; 36];
        let bytes = self.0.to_be_bytes();
        let places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
        for (byte, at) in bytes.into_iter().zip(places) {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
            (text[at], text[at + 1]) = (digit(byte >> 4), digit(byte));
        }
        text
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

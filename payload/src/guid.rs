//! GUIDs.

use core::fmt;
use core::str::FromStr;

/// A GUID as an integer with the same hexadecimal digits as its text form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Guid(pub u128);

/// Parses the text form of a GUID, with or without braces, ignoring case.
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

/// Error of a text that is not a GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoGuid;

impl fmt::Display for NoGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid GUID; expected a form such as 68fdd900-4a3e-11d1-84f4-0000f80464e3")
    }
}

impl core::error::Error for NoGuid {}

impl Guid {
    /// The GUID in 16 bytes as Windows has it in memory: three little-endian numbers, then eight bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
        let [i, j, k, l, m, n, o, p] = rest;
        Self(u128::from_be_bytes([d, c, b, a, f, e, h, g, i, j, k, l, m, n, o, p]))
    }

    /// Its 16 bytes in memory.
    pub const fn to_bytes(self) -> [u8; 16] {
        // The order of bytes is its own inverse.
        Self::from_bytes(self.0.to_be_bytes()).0.to_be_bytes()
    }

    /// The 36 characters of the text form, in lowercase.
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
        f.write_str(core::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

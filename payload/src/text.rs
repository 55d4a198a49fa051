//! Texts in payloads.

use core::char::{DecodeUtf16Error, REPLACEMENT_CHARACTER, decode_utf16};
use core::fmt::{self, Write};

/// A text, decoded on demand. Invalid characters are replaced by U+FFFD.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    /// UTF-8.
    Utf8(&'a str),
    /// UTF-16, little-endian.
    Utf16(&'a [u8]),
    /// Code page 1252.
    Cp1252(&'a [u8]),
}

impl<'a> Text<'a> {
    /// The characters of the text.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        // One of the three is the text, the others are empty.
        let (utf8, utf16, bytes): (&str, &[u8], &[u8]) = match self {
            Self::Utf8(utf8) => (utf8, &[], &[]),
            Self::Utf16(utf16) => ("", utf16, &[]),
            Self::Cp1252(bytes) => ("", &[], bytes),
        };
        utf8.chars()
            .chain(decoded(utf16).map(|unit| unit.unwrap_or(REPLACEMENT_CHARACTER)))
            .chain(bytes.iter().map(|byte| cp1252(*byte)))
    }

    pub(crate) fn is_valid(self) -> bool {
        match self {
            Self::Utf16(bytes) => {
                // Without surrogates, every unit is a character.
                let is_plain = || units(bytes).fold(true, |is_plain, unit| is_plain & (unit & 0xF800 != 0xD800));
                bytes.len() % 2 == 0 && (is_plain() || decoded(bytes).all(|unit| unit.is_ok()))
            }
            Self::Utf8(_) | Self::Cp1252(_) => true,
        }
    }
}

fn units(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
}

fn decoded(bytes: &[u8]) -> impl Iterator<Item = Result<char, DecodeUtf16Error>> {
    decode_utf16(units(bytes))
}

/// A character of code page 1252. As in Windows, the five bytes that it does not define are control characters.
fn cp1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’', '“',
        '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..0xA0 => HIGH[usize::from(byte) - 0x80],
        _ => byte.into(),
    }
}

/// Compares the characters, independent of the encoding.
impl PartialEq<str> for Text<'_> {
    fn eq(&self, text: &str) -> bool {
        self.chars().eq(text.chars())
    }
}

/// The characters in quotes, as of a `str`.
impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        self.chars().try_for_each(|character| match character {
            '\'' => f.write_char(character),
            _ => write!(f, "{}", character.escape_debug()),
        })?;
        f.write_char('"')
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|character| f.write_char(character))
    }
}

//! Texts in payloads.

use core::char::{DecodeUtf16Error, decode_utf16};
use core::fmt::{self, Write};
use core::str::Utf8Chunk;

/// A text, decoded on demand. Parts that are no characters are shown as escapes: half of a surrogate pair as `\u{d800}`, an invalid byte of UTF-8
/// or an odd last byte of UTF-16 as `\x80`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    /// UTF-8.
    Utf8(&'a [u8]),
    /// UTF-16, little-endian.
    Utf16(&'a [u8]),
    /// Code page 1252.
    Cp1252(&'a [u8]),
}

impl<'a> Text<'a> {
    /// UTF-16 in a place of fixed size: without zeros at its end. Zeros before other characters are part of the text.
    pub fn fixed_utf16(bytes: &'a [u8]) -> Self {
        let (units, odd) = bytes.as_chunks::<2>();
        Self::Utf16(match odd {
            [] => &bytes[..units.iter().rposition(|unit| *unit != [0, 0]).map_or(0, |last| 2 * last + 2)],
            _ => bytes,
        })
    }

    /// The characters of the text.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        // One of the three is the text, the others are empty.
        let (utf8, utf16, bytes): (&[u8], &[u8], &[u8]) = match self {
            Self::Utf8(utf8) => (utf8, &[], &[]),
            Self::Utf16(utf16) => (&[], utf16, &[]),
            Self::Cp1252(bytes) => (&[], &[], bytes),
        };
        let (units, odd) = utf16.as_chunks::<2>();
        let of_utf8 = |chunk: Utf8Chunk<'a>| chunk.valid().chars().chain(chunk.invalid().iter().flat_map(|byte| of_byte(*byte)));
        let of_unit = |unit: Result<char, DecodeUtf16Error>| match unit {
            Ok(c) => Some(c).into_iter().chain(None.into_iter().flatten()),
            Err(error) => None.into_iter().chain(Some(of_surrogate(error.unpaired_surrogate())).into_iter().flatten()),
        };
        utf8.utf8_chunks()
            .flat_map(of_utf8)
            .chain(decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit))).flat_map(of_unit))
            .chain(odd.iter().flat_map(|byte| of_byte(*byte)))
            .chain(bytes.iter().map(|byte| cp1252(*byte)))
    }
}

/// The escape of a byte that is not a character.
fn of_byte(byte: u8) -> [char; 4] {
    ['\\', 'x', digit(byte >> 4), digit(byte)]
}

/// The escape of half of a surrogate pair.
fn of_surrogate(unit: u16) -> [char; 8] {
    let [high, low] = unit.to_be_bytes();
    ['\\', 'u', '{', digit(high >> 4), digit(high), digit(low >> 4), digit(low), '}']
}

fn digit(value: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(value & 15)])
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

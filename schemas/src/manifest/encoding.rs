//! Decodes the bytes of a manifest as text.

use crate::schemas::SchemaError;
use std::borrow::Cow;

/// Decodes UTF-8 and UTF-16, with or without a byte order mark.
pub(super) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, SchemaError> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
        Cow::Owned(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => Ok(utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Ok(utf16(rest, u16::from_be_bytes)),
        [b'<', 0, ..] => Ok(utf16(bytes, u16::from_le_bytes)),
        [0, b'<', ..] => Ok(utf16(bytes, u16::from_be_bytes)),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, SchemaError> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        SchemaError::line(line_behind(before), "not UTF-8 text; save the manifest as UTF-8, or as UTF-16 with a byte order mark")
    })
}

/// The line in which text ends, from 1.
fn line_behind(text: &[u8]) -> u32 {
    text.iter().filter(|byte| **byte == b'\n').count().try_into().unwrap_or(u32::MAX).saturating_add(1)
}

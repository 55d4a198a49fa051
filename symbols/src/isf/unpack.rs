//! Decoding of a file to the text of a table.

#[cfg(feature = "xz")]
use super::xz::with_decoded;
use super::{Error, MAX_JSON};

const XZ_MAGIC: &[u8] = b"\xFD7zXZ\0";

/// Calls `then` with the text, decompressed if it is xz.
pub(super) fn with_text<T>(input: &[u8], then: impl FnOnce(&str) -> Result<T, Error>) -> Result<T, Error> {
    if input.starts_with(XZ_MAGIC) {
        return with_decoded(input, |text| then(utf8(text)?));
    }
    if without_mark(input).trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::Unrecognized);
    }
    if input.len() > MAX_JSON {
        return Err(Error::TooLarge);
    }
    then(utf8(input)?)
}

#[cfg(not(feature = "xz"))]
fn with_decoded<T>(_: &[u8], _: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    Err(Error::NoXz)
}

fn utf8(text: &[u8]) -> Result<&str, Error> {
    str::from_utf8(without_mark(text)).map_err(|error| Error::Utf8 { offset: error.valid_up_to() })
}

/// The text without the byte order mark that Windows editors and shells write.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

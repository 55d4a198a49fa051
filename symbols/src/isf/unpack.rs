//! From the bytes of a file to the text of a table.

use super::{Error, MAX_JSON};
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::borrow::Cow;
use std::io::Read;

const XZ_MAGIC: &[u8] = b"\xFD7zXZ\0";

/// Enough for the dictionary of `xz -9`, which is 64 MiB.
const XZ_MEMORY: u64 = 96 << 20;

/// The text, decoded if it is xz.
pub(super) fn text(input: &[u8]) -> Result<Cow<'_, str>, Error> {
    if input.starts_with(XZ_MAGIC) {
        let text = String::from_utf8(decode(input)?);
        return text.map(Cow::Owned).map_err(|error| Error::Utf8 { offset: error.utf8_error().valid_up_to() });
    }
    if input.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::Unrecognized);
    }
    if input.len() > MAX_JSON {
        return Err(Error::TooLarge);
    }
    let text = str::from_utf8(input);
    text.map(Cow::Borrowed).map_err(|error| Error::Utf8 { offset: error.valid_up_to() })
}

fn decode(input: &[u8]) -> Result<Vec<u8>, Error> {
    let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)
        .map_err(|error| Error::Xz { decoded: 0, reason: error.to_string() })?;
    let mut text = Vec::new();
    // One byte more than allowed tells a table that is too large from one that just fits.
    let read = XzDecoder::new_stream(input, stream).take(MAX_JSON as u64 + 1).read_to_end(&mut text);
    match read {
        Err(error) => Err(Error::Xz { decoded: text.len(), reason: error.to_string() }),
        Ok(length) if length > MAX_JSON => Err(Error::TooLarge),
        Ok(_) => Ok(text),
    }
}

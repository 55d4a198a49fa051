//! From the bytes of a file to the text of a table.

use super::{Error, MAX_JSON};
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::cell::Cell;
use std::io::Read;

const XZ_MAGIC: &[u8] = b"\xFD7zXZ\0";

/// Enough for the dictionary of `xz -9`, which is 64 MiB.
const XZ_MEMORY: u64 = 96 << 20;

thread_local! {
    /// Where a thread decoded its last table. Over a folder of them, memory of the system's for each is a tenth of the time.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The most bytes that a thread keeps between tables. Kernels' need less.
const KEPT: usize = 16 << 20;

/// Hands the text on, decoded if it is xz.
pub(super) fn with_text<T>(input: &[u8], then: impl FnOnce(&str) -> Result<T, Error>) -> Result<T, Error> {
    if input.starts_with(XZ_MAGIC) {
        let mut room = ROOM.take();
        room.clear();
        let result = decode(input, &mut room).and_then(|()| then(utf8(&room)?));
        if room.capacity() <= KEPT {
            ROOM.set(room);
        }
        return result;
    }
    if input.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::Unrecognized);
    }
    if input.len() > MAX_JSON {
        return Err(Error::TooLarge);
    }
    then(utf8(input)?)
}

fn utf8(text: &[u8]) -> Result<&str, Error> {
    str::from_utf8(text).map_err(|error| Error::Utf8 { offset: error.valid_up_to() })
}

fn decode(input: &[u8], text: &mut Vec<u8>) -> Result<(), Error> {
    let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)
        .map_err(|error| Error::Xz { decoded: 0, reason: error.to_string() })?;
    // One byte more than allowed tells a table that is too large from one that just fits.
    let read = XzDecoder::new_stream(input, stream).take(MAX_JSON as u64 + 1).read_to_end(text);
    match read {
        Err(error) => Err(Error::Xz { decoded: text.len(), reason: error.to_string() }),
        Ok(length) if length > MAX_JSON => Err(Error::TooLarge),
        Ok(_) => Ok(()),
    }
}

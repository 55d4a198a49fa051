//! Decoding of xz.

use super::{Error, MAX_JSON, XZ_MEMORY};
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::cell::Cell;
use std::fmt::Display;
use std::io::{self, Read};

thread_local! {
    /// Output buffer of the thread, reused for the next table: allocation for each table of a folder takes a tenth of the time.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Maximum size of the buffer kept between tables. Tables of kernels need less.
const KEPT: usize = 16 << 20;

/// Initial size of the buffer, in bytes: tables of Windows kernels have 0.5 to 7 MB.
const FIRST: usize = 2 << 20;

/// Calls `then` with the decoded bytes.
pub(super) fn with_decoded<T>(input: &[u8], then: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    let mut buffer = BUFFER.take();
    let result = decode(input, &mut buffer).and_then(|length| then(&buffer[..length]));
    if buffer.len() <= KEPT {
        BUFFER.set(buffer);
    }
    result
}

fn is_memory_limit(error: &io::Error) -> bool {
    matches!(error.get_ref().and_then(|error| error.downcast_ref()), Some(liblzma::stream::Error::MemLimit))
}

/// Decodes to the start of `buffer`, which grows as needed, and returns the length of the text. The rest of `buffer` is unspecified.
fn decode(input: &[u8], buffer: &mut Vec<u8>) -> Result<usize, Error> {
    let failed = |decoded, error: &dyn Display| Error::Xz { decoded, reason: error.to_string() };
    let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED).map_err(|error| failed(0, &error))?;
    let mut decoder = XzDecoder::new_stream(input, stream);
    let mut length = 0;
    loop {
        if length > MAX_JSON {
            return Err(Error::TooLarge);
        }
        if length == buffer.len() {
            // One byte more than allowed distinguishes a table that is too large from one that just fits.
            buffer.resize((2 * length).clamp(FIRST, MAX_JSON + 1), 0);
        }
        match decoder.read(&mut buffer[length..]) {
            Ok(0) => return Ok(length),
            Ok(read) => length += read,
            Err(error) if is_memory_limit(&error) => return Err(Error::XzMemory),
            Err(error) => return Err(failed(length, &error)),
        }
    }
}

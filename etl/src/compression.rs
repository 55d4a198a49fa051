//! The compression formats of trace buffers.

use crate::xpress;
use compcol::vec::compress_to_vec;
use compcol::{Decoder, Status, lznt1, xpress_huffman};
use core::fmt;

/// A compression format, with its number in Windows (`COMPRESSION_FORMAT_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Format {
    /// LZNT1, \[MS-XCA\] 2.5.
    Lznt1 = 2,
    /// Plain XPRESS, \[MS-XCA\] 2.3 and 2.4: the format that sessions use.
    Xpress = 3,
    /// XPRESS with Huffman codes, \[MS-XCA\] 2.1 and 2.2.
    XpressHuffman = 4,
}

/// Error of a stream that cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Error of a plain XPRESS stream.
    Xpress(xpress::Error),
    /// Error of a stream in another format.
    Other {
        /// The format.
        format: Format,
        /// The cause; `None` if the decompressed data exceeds the output.
        reason: Option<compcol::Error>,
        /// Bytes of the stream read before the error.
        input: usize,
        /// Bytes decompressed before the error.
        output: usize,
    },
}

impl Format {
    /// The format with the given number; `None` if there is none.
    pub fn new(number: u16) -> Option<Self> {
        [Self::Lznt1, Self::Xpress, Self::XpressHuffman].into_iter().find(|&format| format as u16 == number)
    }

    /// Decompresses a stream, and returns the number of bytes written to the front of `output`. A stream of XPRESS with Huffman
    /// codes does not mark its end: it must fill the output exactly.
    ///
    /// # Errors
    ///
    /// The stream violates its format, or `output` is too short.
    pub fn decompress(self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Xpress => xpress::decompress(input, output).map_err(Error::Xpress),
            Self::Lznt1 => self.decode(&mut lznt1::Decoder::new(), input, output),
            // An empty stream has no code table.
            Self::XpressHuffman if input.is_empty() && output.is_empty() => Ok(0),
            Self::XpressHuffman => {
                let mut decoder = xpress_huffman::Decoder::new();
                // The decoder expects the length before the stream.
                let length = u32::try_from(output.len()).unwrap_or(u32::MAX).to_le_bytes();
                let failed = |reason| Error::Other { format: self, reason: Some(reason), input: 0, output: 0 };
                decoder.decode(&length, output).map_err(failed)?;
                self.decode(&mut decoder, input, output)
            }
        }
    }

    /// Compresses bytes, and appends the stream to `output`.
    pub fn compress(self, input: &[u8], output: &mut Vec<u8>) {
        // Neither encoder rejects any input.
        let other = |stream: Result<Vec<u8>, compcol::Error>| stream.unwrap_or_default();
        match self {
            Self::Xpress => xpress::compress(input, output),
            Self::Lznt1 => output.extend(other(compress_to_vec::<lznt1::Lznt1>(input))),
            // The encoder writes the length before the stream.
            Self::XpressHuffman => output.extend(other(compress_to_vec::<xpress_huffman::XpressHuffman>(input)).iter().skip(4)),
        }
    }

    fn decode(self, decoder: &mut impl Decoder, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        let (mut taken, mut written) = (0, 0);
        // The decoders detect the end of a stream only while output space is left. A byte written here exceeds the output.
        let mut beyond = [0];
        loop {
            let rest = &input[taken..];
            let full = written == output.len();
            let room = if full { &mut beyond } else { &mut output[written..] };
            let step = if rest.is_empty() { decoder.finish(room) } else { decoder.decode(rest, room) };
            let failed = move |reason| Error::Other { format: self, reason, input: taken, output: written };
            let (progress, status) = step.map_err(|reason| failed(Some(reason)))?;
            if full && progress.written > 0 {
                return Err(failed(None));
            }
            taken += progress.consumed;
            written += progress.written;
            if status == Status::StreamEnd {
                return Ok(written);
            }
            if progress.written == 0 && progress.consumed == 0 {
                return Err(failed(Some(compcol::Error::UnexpectedEnd)));
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xpress(error) => error.fmt(f),
            Self::Other { format, reason, input, output } => {
                let name = match format {
                    Format::Lznt1 => "LZNT1",
                    Format::Xpress => "XPRESS",
                    Format::XpressHuffman => "XPRESS-HUFFMAN",
                };
                write!(f, "{name} stream, offset {input:#x}, {output:#x} bytes decompressed: ")?;
                match reason {
                    Some(reason) => reason.fmt(f),
                    None => f.write_str("decompressed data exceeds the output"),
                }
            }
        }
    }
}

impl core::error::Error for Error {}

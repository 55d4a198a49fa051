//! Decompression.

use super::state::{PRESENT, State, flags};
use super::{SHORTEST, bulk};
use core::fmt;

/// Decompresses a stream, and returns the number of bytes written to the front of `output`.
///
/// A stream ends when its last byte is read: before a dword of flags, or at a flag for a match. Encoders use the second form,
/// some with a final dword of such flags only.
///
/// # Errors
///
/// The stream ends within an item, a match begins before the first byte, a length is not in the form that encoders write, or
/// `output` is too short. The bytes decompressed before the error are at the front of `output`; the bytes after them are
/// unspecified.
pub fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    let mut state = State { read: 0, written: 0, flags: 1, half: 0 };
    loop {
        bulk::decode(input, output, &mut state);
        let State { read, written, .. } = state;
        match state.item(input, output) {
            Ok(true) => {}
            Ok(false) => return Ok(state.written),
            Err(reason) => return Err(Error { reason, input: read, output: written }),
        }
    }
}

/// Error of a stream that cannot be decompressed, with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of error.
    pub reason: ErrorKind,
    /// Offset of the invalid item in the stream, in bytes.
    pub input: usize,
    /// Number of bytes decompressed before that item.
    pub output: usize,
}

/// Kind of a decompression error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The stream ends within an item.
    Truncated,
    /// A match begins before the first byte.
    Distance,
    /// The longest form of a length has a value with a shorter form, or one that exceeds any output.
    Length,
    /// The decompressed data exceeds the output.
    Output,
}

impl State {
    /// Decodes an item, or reads the next flags if none are left; `false` at the end of the stream.
    fn item(&mut self, input: &[u8], output: &mut [u8]) -> Result<bool, ErrorKind> {
        if self.flags == 1 {
            if self.read == input.len() {
                return Ok(false);
            }
            self.flags = flags(u32::from_le_bytes(self.take(input)?));
            return Ok(true);
        }
        if self.flags & 1 == 0 {
            let Some(&byte) = input.get(self.read) else { return Err(ErrorKind::Truncated) };
            *output.get_mut(self.written).ok_or(ErrorKind::Output)? = byte;
            self.read += 1;
            self.written += 1;
        } else if self.read == input.len() {
            return Ok(false);
        } else {
            let item = u16::from_le_bytes(self.take(input)?);
            let length = self.length(item & 7, input)?;
            self.repeat(usize::from(item >> 3) + 1, length, output)?;
        }
        self.flags >>= 1;
        Ok(true)
    }

    fn take<const N: usize>(&mut self, input: &[u8]) -> Result<[u8; N], ErrorKind> {
        let bytes = input.get(self.read..).and_then(<[u8]>::first_chunk).ok_or(ErrorKind::Truncated)?;
        self.read += N;
        Ok(*bytes)
    }

    /// The length of a match, given its lowest bits. These bits, a half byte and a byte are added up, each present only when the
    /// one before it is full; then a word has the length, or a dword if the word is 0.
    fn length(&mut self, low: u16, input: &[u8]) -> Result<usize, ErrorKind> {
        if low < 7 {
            return Ok(usize::from(low) + SHORTEST);
        }
        let half = match core::mem::take(&mut self.half) {
            0 => {
                let [byte] = self.take(input)?;
                self.half = PRESENT | byte >> 4;
                byte & 15
            }
            half => half & 15,
        };
        if half < 15 {
            return Ok(7 + usize::from(half) + SHORTEST);
        }
        let [byte] = self.take(input)?;
        if byte < 255 {
            return Ok(7 + 15 + usize::from(byte) + SHORTEST);
        }
        let length = match u16::from_le_bytes(self.take(input)?) {
            0 => u32::from_le_bytes(self.take(input)?),
            word => word.into(),
        };
        // The sum must not overflow where usize has 32 bits; no output is that large.
        match length {
            0..22 | 0xFFFF_FFF0.. => Err(ErrorKind::Length),
            _ => Ok(length as usize + SHORTEST),
        }
    }

    /// Appends `length` bytes, each equal to the one `distance` before it.
    fn repeat(&mut self, distance: usize, length: usize, output: &mut [u8]) -> Result<(), ErrorKind> {
        let from = self.written.checked_sub(distance).ok_or(ErrorKind::Distance)?;
        if length > output.len() - self.written {
            return Err(ErrorKind::Output);
        }
        let end = self.written + length;
        // Copied bytes can be copied again: the available range doubles each time.
        while self.written < end {
            let present = (self.written - from).min(end - self.written);
            output.copy_within(from..from + present, self.written);
            self.written += present;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, input, output } = self;
        write!(f, "XPRESS stream, offset {input:#x}, {output:#x} bytes decompressed: {reason}")
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "stream ends within an item",
            Self::Distance => "match begins before the first byte",
            Self::Length => "invalid length in the longest form",
            Self::Output => "decompressed data exceeds the output",
        })
    }
}

impl core::error::Error for Error {}

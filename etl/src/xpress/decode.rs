//! Decompression.

use super::state::{HELD, State, flags};
use super::{SHORTEST, bulk};
use core::fmt;

/// Decompresses a stream, and returns how many bytes it wrote to the front of `output`.
///
/// A stream ends where its last byte is read: before a dword of flags, or at a flag that announces a match. Encoders end it in
/// the second way, some with a dword of nothing but such flags.
///
/// # Errors
///
/// The stream ends within an item, a match reaches back beyond the first byte, a length is none that an encoder writes, or
/// `output` is too short. What was decompressed before that is at the front of `output`; the bytes after it have no meaning.
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

/// Why a stream does not decompress, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub reason: Reason,
    /// Bytes of the stream before the item that is wrong.
    pub input: usize,
    /// Bytes that were decompressed before that item.
    pub output: usize,
}

/// What is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It ends within an item.
    Truncated,
    /// A match reaches back beyond the first byte.
    Distance,
    /// The longest form of a length holds one that has a shorter form, or one that no output can have.
    Length,
    /// It decompresses to more than the output holds.
    Output,
}

impl State {
    /// Decodes an item, or takes flags if none are left; `false` at the end of the stream.
    fn item(&mut self, input: &[u8], output: &mut [u8]) -> Result<bool, Reason> {
        if self.flags == 1 {
            if self.read == input.len() {
                return Ok(false);
            }
            self.flags = flags(u32::from_le_bytes(self.take(input)?));
            return Ok(true);
        }
        if self.flags & 1 == 0 {
            let Some(&byte) = input.get(self.read) else { return Err(Reason::Truncated) };
            *output.get_mut(self.written).ok_or(Reason::Output)? = byte;
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

    fn take<const N: usize>(&mut self, input: &[u8]) -> Result<[u8; N], Reason> {
        let bytes = input.get(self.read..).and_then(<[u8]>::first_chunk).ok_or(Reason::Truncated)?;
        self.read += N;
        Ok(*bytes)
    }

    /// The length of a match, by its lowest bits: they, half of a byte and a byte are summed, each only where the one before it is
    /// full; then the length stands in a word, or if that is 0 in a dword.
    fn length(&mut self, low: u16, input: &[u8]) -> Result<usize, Reason> {
        if low < 7 {
            return Ok(usize::from(low) + SHORTEST);
        }
        let half = match core::mem::take(&mut self.half) {
            0 => {
                let [byte] = self.take(input)?;
                self.half = HELD | byte >> 4;
                byte & 15
            }
            held => held & 15,
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
        // The sum must not overflow where usize has 32 bits; such an output there is none.
        match length {
            0..22 | 0xFFFF_FFF0.. => Err(Reason::Length),
            _ => Ok(length as usize + SHORTEST),
        }
    }

    /// Appends `length` bytes, each the one `distance` before it.
    fn repeat(&mut self, distance: usize, length: usize, output: &mut [u8]) -> Result<(), Reason> {
        let from = self.written.checked_sub(distance).ok_or(Reason::Distance)?;
        if length > output.len() - self.written {
            return Err(Reason::Output);
        }
        let end = self.written + length;
        // What was copied can be copied again: each time there is twice as much.
        while self.written < end {
            let there = (self.written - from).min(end - self.written);
            output.copy_within(from..from + there, self.written);
            self.written += there;
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

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "it ends within an item",
            Self::Distance => "a match reaches back beyond the first byte",
            Self::Length => "the longest form of a length holds a length that it is not for",
            Self::Output => "it decompresses to more than the output holds",
        })
    }
}

impl core::error::Error for Error {}

//! Decompression.

use super::SHORTEST;
use super::window::{Short, Window};
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
    let (mut rest, mut output) = (Input { bytes: input, half: 0 }, Window::new(output));
    match stream(&mut rest, &mut output) {
        Ok(()) => Ok(output.written()),
        Err(reason) => Err(Error { reason, input: input.len() - rest.bytes.len(), output: output.written() }),
    }
}

/// Why a stream does not decompress, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub reason: Reason,
    /// Bytes of the stream up to the item that is wrong, or to a place within it.
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

/// What is left of the stream, and of a byte that holds the halves of two lengths.
#[derive(Clone, Copy)]
struct Input<'a> {
    bytes: &'a [u8],
    /// The half that the next length takes, and [`HELD`]; or 0.
    half: u8,
}

const HELD: u8 = 16;

/// Only the bit that ends the flags is left.
const LAST: u64 = 1 << 63;

fn stream(input: &mut Input, output: &mut Window) -> Result<(), Reason> {
    while !input.bytes.is_empty() {
        // The flags from the highest bit on, and a bit that ends them.
        let mut flags = u64::from(u32::from_le_bytes(input.take()?)) << 32 | 1 << 31;
        loop {
            let literals = flags.leading_zeros();
            flags <<= literals;
            input.literals(literals as usize, output)?;
            if flags == LAST {
                break;
            }
            flags <<= 1;
            if input.bytes.is_empty() {
                return Ok(());
            }
            let (distance, length) = input.repeat()?;
            output.repeat(distance, length)?;
        }
    }
    Ok(())
}

// All of this is inlined into the one loop, but for what is rare: the rare parts take the input by value, so that the loop keeps
// it in registers.
impl Input<'_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Reason> {
        let (bytes, rest) = self.bytes.split_first_chunk().ok_or(Reason::Truncated)?;
        self.bytes = rest;
        Ok(*bytes)
    }

    /// Moves up to 32 literal bytes.
    #[inline(always)]
    fn literals(&mut self, count: usize, output: &mut Window) -> Result<(), Reason> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(count) else { return Err(Reason::Truncated) };
        match self.bytes.first_chunk() {
            Some(more) if output.append_some(more, count) => {}
            _ => output.append(bytes)?,
        }
        self.bytes = rest;
        Ok(())
    }

    /// Distance and length of a match.
    #[inline(always)]
    fn repeat(&mut self) -> Result<(usize, usize), Reason> {
        let item;
        let mut length;
        // Which form the length has cannot be foreseen, so it is no branch: a third byte is looked at, and taken if it is a half.
        if let Some(&[low, high, next]) = self.bytes.first_chunk() {
            item = u16::from_le_bytes([low, high]);
            let (long, held) = (item & 7 == 7, self.half);
            let (half, left) = match held {
                0 => (next & 15, HELD | next >> 4),
                _ => (held & 15, 0),
            };
            length = u32::from(item & 7) + if long { half.into() } else { 0 };
            self.half = if long { left } else { held };
            self.bytes = &self.bytes[2 + usize::from(long && held == 0)..];
        } else {
            item = u16::from_le_bytes(self.take()?);
            length = u32::from(item & 7);
            if length == 7 {
                if self.half == 0 {
                    return Err(Reason::Truncated);
                }
                length += u32::from(self.half & 15);
                self.half = 0;
            }
        }
        if length == 7 + 15 {
            let [byte] = self.take()?;
            length += u32::from(byte);
            if byte == 255 {
                (length, *self) = self.longest()?;
            }
        }
        Ok((usize::from(item >> 3) + 1, length as usize + SHORTEST))
    }

    /// A length that is no sum, but stands in a word, or if that is 0 in a dword.
    #[cold]
    #[inline(never)]
    fn longest(mut self) -> Result<(u32, Self), Reason> {
        let length = match u16::from_le_bytes(self.take()?) {
            0 => u32::from_le_bytes(self.take()?),
            word => word.into(),
        };
        // The sum must not overflow where usize has 32 bits; such an output there is none.
        match length {
            0..22 | 0xFFFF_FFF0.. => Err(Reason::Length),
            _ => Ok((length, self)),
        }
    }
}

impl From<Short> for Reason {
    fn from(short: Short) -> Self {
        match short {
            Short::Before => Self::Distance,
            Short::After => Self::Output,
        }
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

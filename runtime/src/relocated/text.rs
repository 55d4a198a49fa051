//! Texts.

use super::error::{PlanError, ReadError};
use super::field::{Field, Found, another, place};
use super::memory::{Memory, Source};
use super::number::NumberPlace;
use super::pointer::Pointer;
use crate::packed::{Layout, Wanted};
use core::fmt;

/// A UNICODE_STRING: the description of a text elsewhere in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnicodeString {
    /// Length of the text in bytes.
    pub length: u16,
    /// Size of its buffer in bytes.
    pub maximum_length: u16,
    /// Address of the text.
    pub buffer: Pointer,
}

/// Error of reading a text; `E` is the error of the source of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError<E> {
    /// The length is odd, or greater than the size of the buffer.
    Length(UnicodeString),
    /// The caller's buffer has fewer units than the text.
    Buffer {
        /// Units of the text.
        units: usize,
    },
    /// The memory has only this many bytes of the text.
    Missing(UnicodeString, usize),
    /// The source of the memory fails.
    Source(E),
}

impl UnicodeString {
    /// Reads the text as UTF-16 into the front of a buffer. 32,767 units are enough for every text.
    ///
    /// # Errors
    ///
    /// The description is invalid, the buffer is too short, memory is missing, or its source fails.
    pub fn text<'b, M: Memory + ?Sized>(&self, memory: &M, buffer: &'b mut [u16]) -> Result<&'b [u16], TextError<M::Error>> {
        if !self.length.is_multiple_of(2) || self.length > self.maximum_length {
            return Err(TextError::Length(*self));
        }
        let units = usize::from(self.length) / 2;
        let text = buffer.get_mut(..units).ok_or(TextError::Buffer { units })?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(text);
        if !bytes.is_empty() {
            match memory.read(self.buffer.address, bytes) {
                Ok(read) if read >= bytes.len() => {}
                Ok(read) => return Err(TextError::Missing(*self, read)),
                Err(error) => return Err(TextError::Source(error)),
            }
        }
        Ok(text)
    }
}

impl Field for UnicodeString {
    /// Offset, and the places of the members of the structure.
    type Location = (u32, [NumberPlace; 3]);
    const WANTED: Wanted = Wanted::Structure("UNICODE_STRING");

    fn place<'a>(Found(found): Found<'a>, embedded: &mut dyn FnMut(Layout<'a>)) -> Result<Self::Location, PlanError> {
        let find = |name| found.layout().and_then(|layout| layout.find(name, &mut 0));
        let members = [find("Length"), find("MaximumLength"), find("Buffer")];
        let [Some(length), Some(maximum_length), Some(buffer)] = members else { return Err(another::<Self>(found)) };
        let numbers = [place::<u16>(length, embedded)?, place::<u16>(maximum_length, embedded)?];
        let [length, maximum_length] = numbers;
        Ok((found.offset, [length, maximum_length, place::<Pointer>(buffer, embedded)?]))
    }

    #[inline]
    fn read<M: Memory + ?Sized>((offset, members): &Self::Location, from: &Source<'_, M>) -> Result<Self, ReadError<M::Error>> {
        let from = from.from(*offset, 1)?;
        let [length, maximum_length, buffer] = members;
        Ok(Self {
            length: u16::read(length, &from)?,
            maximum_length: u16::read(maximum_length, &from)?,
            buffer: Pointer::read(buffer, &from)?,
        })
    }
}

impl<E: fmt::Display> fmt::Display for TextError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(text) => {
                let UnicodeString { length, maximum_length, .. } = text;
                write!(f, "invalid UNICODE_STRING: length {length}, capacity {maximum_length}")
            }
            Self::Buffer { units } => write!(f, "text of {units} UTF-16 units exceeds the buffer; give a longer one"),
            Self::Missing(text, read) => {
                write!(f, "cannot read a text, {} bytes at {:?}: the memory has only {read} of them", text.length, text.buffer)
            }
            Self::Source(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for TextError<E> {}

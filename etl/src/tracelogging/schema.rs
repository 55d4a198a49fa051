//! The schema of an event: its name and its fields, one after the other, the members of a structure behind it.

use super::fault::{Fault, Reason};
use super::types::{InType, OutType};

/// The schema of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema<'a> {
    /// The name of the event.
    pub name: &'a str,
    /// Bits that the provider gives a meaning.
    pub tags: u32,
    /// The fields, as they are encoded.
    pub(super) fields: &'a [u8],
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// How its values are encoded.
    pub in_type: InType,
    /// How they are to be shown.
    pub out_type: OutType,
    /// Bits that the provider gives a meaning.
    pub tags: u32,
    /// How many values it has.
    pub count: Count<'a>,
    /// Of a structure, how many of the fields behind it are its members; their own members are not counted.
    pub members: u8,
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count<'a> {
    /// One.
    One,
    /// An array of this length.
    Constant(u16),
    /// An array whose length is in the payload.
    Variable,
    /// One, which a serializer of the provider's has written, with what it says of it.
    Custom(&'a [u8]),
}

const COUNT: u8 = 0x60;
const CONSTANT: u8 = 0x20;
const VARIABLE: u8 = 0x40;
const CHAIN: u8 = 0x80;

impl<'a> Schema<'a> {
    /// Reads an extended item that is a schema, up to its fields.
    ///
    /// # Errors
    ///
    /// It is malformed.
    pub fn read(item: &'a [u8]) -> Result<Self, Fault> {
        let read = || {
            let mut rest = sized(item)?;
            let tags = tags(&mut rest)?;
            let name = name(&mut rest)?;
            Ok(Self { name, tags, fields: rest })
        };
        read().map_err(|reason: Reason| reason.at(0))
    }
}

impl<'a> Field<'a> {
    /// The field at the start of bytes, which then begin behind it.
    pub(super) fn read(rest: &mut &'a [u8]) -> Result<Self, Reason> {
        let name = name(rest)?;
        let flags = byte(rest)?;
        let out = if flags & CHAIN != 0 { byte(rest)? } else { 0 };
        let tags = if out & CHAIN != 0 { tags(rest)? } else { 0 };
        let count = match flags & COUNT {
            0 => Count::One,
            CONSTANT => Count::Constant(word(rest)?),
            VARIABLE => Count::Variable,
            _ => {
                let size = word(rest)?;
                Count::Custom(take(rest, size.into())?)
            }
        };
        let (in_type, out) = (InType(flags & 0x1F), out & !CHAIN);
        // A structure has its members where others say how they are shown. The low bits of a custom field are no type.
        let is_structure = in_type == InType::STRUCT && !matches!(count, Count::Custom(_));
        let (out_type, members) = if is_structure { (OutType::NULL, out) } else { (OutType(out), 0) };
        Ok(Self { name, in_type, out_type, tags, count, members })
    }

    /// Whether its values are structures.
    pub fn is_structure(&self) -> bool {
        self.in_type == InType::STRUCT && !matches!(self.count, Count::Custom(_))
    }
}

/// What follows the size that bytes begin with, and that has to be theirs.
pub(super) fn sized(bytes: &[u8]) -> Result<&[u8], Reason> {
    let mut rest = bytes;
    match word(&mut rest)? {
        size if usize::from(size) == bytes.len() => Ok(rest),
        stated => Err(Reason::Size { stated, there: bytes.len() }),
    }
}

/// A name, which ends with a zero.
pub(super) fn name<'a>(rest: &mut &'a [u8]) -> Result<&'a str, Reason> {
    let end = rest.iter().position(|byte| *byte == 0).ok_or(Reason::Truncated)?;
    let name = take(rest, end + 1)?;
    std::str::from_utf8(&name[..end]).map_err(|_| Reason::Name)
}

/// Tags: seven bits a byte from the highest of 28 on, as far as there are any.
fn tags(rest: &mut &[u8]) -> Result<u32, Reason> {
    let mut tags = 0;
    for shift in [21, 14, 7, 0] {
        let byte = byte(rest)?;
        tags |= u32::from(byte & !CHAIN) << shift;
        if byte & CHAIN == 0 {
            return Ok(tags);
        }
    }
    Err(Reason::Tags)
}

fn byte(rest: &mut &[u8]) -> Result<u8, Reason> {
    Ok(take(rest, 1)?[0])
}

fn word(rest: &mut &[u8]) -> Result<u16, Reason> {
    take(rest, 2).map(|word| u16::from_le_bytes([word[0], word[1]]))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], Reason> {
    rest.split_off(..length).ok_or(Reason::Truncated)
}

//! TraceLogging schemas: the name of an event and its fields, each structure followed by its members.

use super::types::out_type;
use crate::fault::{Fault, FaultKind};
use crate::schema::{Count, Field, FieldList, Length, Members, Schema, Source};
use crate::types::{InType, OutType};

const COUNT: u8 = 0x60;
const CONSTANT: u8 = 0x20;
const VARIABLE: u8 = 0x40;
const CHAIN: u8 = 0x80;

impl<'a> Schema<'a> {
    /// Reads a TraceLogging schema from its extended item, up to the fields. The item does not contain the name of the provider.
    ///
    /// # Errors
    ///
    /// The schema is invalid.
    pub fn trace_logging(item: &'a [u8]) -> Result<Self, Fault> {
        let read = || {
            let mut rest = sized(item)?;
            let tags = tags(&mut rest)?;
            let event = name(&mut rest)?;
            let fields = FieldList::TraceLogging(rest);
            Ok(Self { provider: "", event, version: 0, tags, source: Source::TraceLogging, fields })
        };
        read().map_err(|reason: FaultKind| reason.at(0))
    }
}

/// Reads a field, and removes it from `rest`.
pub(crate) fn field<'a>(rest: &mut &'a [u8]) -> Result<Field<'a>, FaultKind> {
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
    let (in_type, out) = (InType((flags & 0x1F).into()), out & !CHAIN);
    let field = Field { count, tags, ..Field::new(name, in_type) };
    // For a structure, the byte of the display format is the number of members. The type bits of a custom field have no meaning.
    Ok(match field.is_structure() {
        true => Field { out_type: OutType::NULL, members: Members { first: None, count: out.into() }, ..field },
        false if in_type == InType::BINARY => Field { out_type: out_type(out, in_type), length: Length::Variable, ..field },
        false => Field { out_type: out_type(out, in_type), ..field },
    })
}

/// The bytes after a size prefix, which must equal the actual size.
pub(super) fn sized(bytes: &[u8]) -> Result<&[u8], FaultKind> {
    let mut rest = bytes;
    match word(&mut rest)? {
        size if usize::from(size) == bytes.len() => Ok(rest),
        stated => Err(FaultKind::Size { stated, present: bytes.len() }),
    }
}

/// Reads a name that ends with a zero.
pub(super) fn name<'a>(rest: &mut &'a [u8]) -> Result<&'a str, FaultKind> {
    let end = rest.iter().position(|byte| *byte == 0).ok_or(FaultKind::Truncated)?;
    let name = take(rest, end + 1)?;
    core::str::from_utf8(&name[..end]).map_err(|_| FaultKind::Name)
}

/// Reads tags: up to four bytes with seven bits each, the highest of 28 bits first. The high bit of a byte means that another follows.
fn tags(rest: &mut &[u8]) -> Result<u32, FaultKind> {
    let mut tags = 0;
    for shift in [21, 14, 7, 0] {
        let byte = byte(rest)?;
        tags |= u32::from(byte & !CHAIN) << shift;
        if byte & CHAIN == 0 {
            return Ok(tags);
        }
    }
    Err(FaultKind::Tags)
}

fn byte(rest: &mut &[u8]) -> Result<u8, FaultKind> {
    Ok(take(rest, 1)?[0])
}

fn word(rest: &mut &[u8]) -> Result<u16, FaultKind> {
    take(rest, 2).map(|word| u16::from_le_bytes([word[0], word[1]]))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], FaultKind> {
    let (taken, behind) = rest.split_at_checked(length).ok_or(FaultKind::Truncated)?;
    *rest = behind;
    Ok(taken)
}

//! Reads structures and texts at offsets in a TRACE_EVENT_INFO or EVENT_MAP_INFO.

use etw_layouts::bytemuck::AnyBitPattern;
use etw_layouts::runtime::bytes;
use std::fmt;

/// Error of a TRACE_EVENT_INFO or EVENT_MAP_INFO that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InfoError {
    /// The bytes end within the structures.
    Truncated {
        /// Bytes that the structures need.
        needed: u64,
        /// Bytes present.
        present: usize,
    },
    /// There is no terminated text at an offset.
    Text {
        /// The member with the offset.
        member: &'static str,
        /// The offset.
        offset: u32,
    },
    /// The total length of all texts exceeds the limit: many offsets refer to the same text.
    Texts,
    /// The decoding source is not a manifest or a MOF class: WPP (2) has no fields, and TraceLogging events (3) carry their own schemas.
    Source(u32),
    /// The number of properties at the top level exceeds the number of all properties.
    TopLevel {
        /// Number of properties at the top level.
        top: u32,
        /// Number of all properties.
        all: u32,
    },
    /// Members of a structure do not exist as properties, or are already fields.
    Members {
        /// Index of the structure's property.
        property: u16,
        /// Index of its first member.
        first: u16,
        /// Number of its members.
        count: u16,
    },
    /// Structures nest deeper than 16 levels, at the property with this index.
    Depth(u16),
    /// A count or length does not refer to an earlier property of the same or an enclosing structure.
    Reference {
        /// Index of the property.
        property: u16,
        /// Index of the property that it refers to.
        to: u16,
    },
    /// The flags of the map do not identify one kind of map.
    MapFlags(u32),
    /// The map is a pattern map, which gives names to texts instead of values.
    Pattern,
    /// The map gives names to texts that are not numbers, such as this one.
    MapText(String),
}

impl fmt::Display for InfoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, present } => write!(f, "truncated: {present:#x} bytes, structures need {needed:#x}"),
            Self::Text { member, offset } => write!(f, "invalid {member}: no terminated text at {offset:#x}"),
            Self::Texts => f.write_str("texts overlap: together they are longer than the event"),
            Self::Source(source) => write!(f, "decoding source {source} has no schema for the payload"),
            Self::TopLevel { top, all } => write!(f, "invalid TopLevelPropertyCount: {top} of {all} properties"),
            Self::Members { property, first, count } => {
                write!(f, "invalid structure at property {property}: {count} members from property {first}")
            }
            Self::Depth(property) => write!(f, "structures nest deeper than 16 levels at property {property}"),
            Self::Reference { property, to } => {
                write!(f, "invalid count or length of property {property}: refers to property {to}, which is not before it")
            }
            Self::MapFlags(flags) => write!(f, "unknown kind of map: flags {flags:#x}"),
            Self::Pattern => f.write_str("unsupported pattern map: it has texts instead of values"),
            Self::MapText(text) => write!(f, "invalid map: the text {text:?} is not a number"),
        }
    }
}

impl std::error::Error for InfoError {}

/// The bytes, with a limit for the total length of texts.
pub(crate) struct Info<'a> {
    bytes: &'a [u8],
    /// Bytes of texts that may still be read.
    budget: usize,
}

impl<'a> Info<'a> {
    /// The limit is four times the number of bytes, because properties can share the name of a map, and refer to each other by name.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, budget: bytes.len().saturating_mul(4) }
    }

    /// The structure at the start. Its first `length` bytes must be present; further missing bytes are zero.
    pub fn prefix<T: AnyBitPattern>(&self, length: usize) -> Result<T, InfoError> {
        let truncated = InfoError::Truncated { needed: length as u64, present: self.bytes.len() };
        let mut whole = vec![0; size_of::<T>()];
        match (whole.get_mut(..length), self.bytes.get(..length)) {
            (Some(to), Some(from)) => to.copy_from_slice(from),
            _ => return Err(truncated),
        }
        bytes::copy(&whole, 0).map_err(|_| truncated)
    }

    /// An array of `count` elements at an offset.
    pub fn array<T: AnyBitPattern>(&self, offset: usize, count: u32) -> Result<Vec<T>, InfoError> {
        let needed = (u64::from(count)).saturating_mul(size_of::<T>() as u64).saturating_add(offset as u64);
        let array = usize::try_from(needed).ok().and_then(|end| self.bytes.get(offset..end));
        let array = array.ok_or(InfoError::Truncated { needed, present: self.bytes.len() })?;
        Ok(array.chunks_exact(size_of::<T>()).map(|bytes| bytes::copy(bytes, 0)).filter_map(Result::ok).collect())
    }

    /// The text at the offset in a member; empty for offset 0. Trailing blanks are removed, because texts from message tables have them.
    pub fn text(&mut self, member: &'static str, offset: u32) -> Result<String, InfoError> {
        if offset == 0 {
            return Ok(String::new());
        }
        let invalid = InfoError::Text { member, offset };
        let rest = self.bytes.get(offset as usize..).ok_or(invalid.clone())?;
        let length = rest.chunks_exact(2).position(|unit| *unit == [0, 0]).ok_or(invalid)?;
        self.charge(2 * length + 2)?;
        let units = rest.chunks_exact(2).take(length).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Ok(text.trim_end_matches(' ').to_owned())
    }

    /// Subtracts the length of a text from the limit.
    pub fn charge(&mut self, length: usize) -> Result<(), InfoError> {
        self.budget = self.budget.checked_sub(length).ok_or(InfoError::Texts)?;
        Ok(())
    }

    /// The consecutive texts at the offset, up to an empty one.
    pub fn texts(&mut self, member: &'static str, offset: u32) -> Result<Vec<String>, InfoError> {
        let (mut all, mut offset) = (Vec::new(), offset);
        while offset != 0 {
            let before = self.budget;
            let text = self.text(member, offset)?;
            if before - self.budget <= 2 {
                break;
            }
            offset = offset.saturating_add((before - self.budget) as u32);
            all.push(text);
        }
        Ok(all)
    }
}

//! Errors of decoding.

use core::fmt;

/// An error of decoding, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The cause.
    pub reason: FaultKind,
    /// Number of payload bytes decoded before the error; 0 for an error in the schema.
    pub offset: usize,
}

/// The cause of an error of decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The size stated at the start of a schema or of traits differs from the actual size.
    Size {
        /// The stated size in bytes.
        stated: u16,
        /// The actual size in bytes.
        present: usize,
    },
    /// The schema or the traits are truncated.
    Truncated,
    /// A name is not valid UTF-8.
    Name,
    /// Tags have more than 28 bits.
    Tags,
    /// Unknown field type.
    Type(u16),
    /// A structure has more members than the schema has fields left.
    Members,
    /// A count or length refers to the field with this index, which has no value yet.
    Reference(u16),
    /// A count or length refers to the field with this index. Its value was discarded, because 16 later counts and lengths were read.
    Sizes(u16),
    /// Structures and arrays are nested more than 32 levels deep.
    Depth,
    /// The output exceeds the work limit: 256 steps and bytes of names for each byte of schema and payload. Only arrays of elements
    /// with few or no bytes reach it.
    Work,
    /// The payload ends within a value.
    Payload,
    /// The payload has bytes after the last field.
    Rest,
    /// The payload has bytes after the last known field. This field is a structure without members, because no source states its members or
    /// its length.
    Unstated,
}

impl FaultKind {
    /// Whether all fields of the schema were decoded, and the payload has bytes after them.
    #[must_use]
    pub fn is_longer(self) -> bool {
        matches!(self, Self::Rest | Self::Unstated)
    }

    /// The error with this cause, at an offset of the payload.
    pub(crate) fn at(self, offset: usize) -> Fault {
        Fault { reason: self, offset }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at payload offset {:#x}", self.reason, self.offset)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { stated, present } => write!(f, "wrong schema size: states {stated} bytes, has {present}"),
            Self::Truncated => f.write_str("truncated schema"),
            Self::Name => f.write_str("invalid UTF-8 in a name of the schema"),
            Self::Tags => f.write_str("invalid tags: more than 28 bits"),
            Self::Type(ty) => write!(f, "unknown field type {ty}"),
            Self::Members => f.write_str("too many structure members: the schema has fewer fields"),
            Self::Reference(index) => write!(f, "invalid count or length: field {index} has no value yet"),
            Self::Sizes(index) => write!(f, "too many counts and lengths: field {index} is needed after 16 later ones"),
            Self::Depth => f.write_str("too many levels of structures and arrays: more than 32"),
            Self::Work => f.write_str("too much output: arrays of empty elements exceed the work limit"),
            Self::Payload => f.write_str("truncated payload: ends within a value"),
            Self::Rest => f.write_str("bytes after the last field"),
            Self::Unstated => f.write_str("field of unknown size: no source of the schema states its members or length"),
        }
    }
}

impl core::error::Error for Fault {}

//! Why something cannot be decoded.

use core::fmt;

/// What cannot be decoded, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub reason: Reason,
    /// Where: bytes of the payload that were decoded before; of a fault of the schema itself, 0.
    pub offset: usize,
}

/// Why it cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The size that a schema or traits begin with is not theirs.
    Size {
        /// What they say.
        stated: u16,
        /// What is there.
        there: usize,
    },
    /// The schema or the traits end within a part of them.
    Truncated,
    /// A name is not UTF-8.
    Name,
    /// Tags of more than 28 bits.
    Tags,
    /// A field is of a type that is none.
    Type(u16),
    /// A structure has more members than the schema has fields left.
    Members,
    /// A count or length is the value of the field with this index, which has none before it.
    Reference(u16),
    /// Structures nest deeper than is followed.
    Depth,
    /// The payload would be shown as many times what it is.
    Work,
    /// The payload ends within a value.
    Payload,
    /// The payload goes on behind the last field.
    Rest,
}

impl Reason {
    /// Where in the payload it was met.
    pub(crate) fn at(self, offset: usize) -> Fault {
        Fault { reason: self, offset }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} bytes of the payload are decoded: {}", self.offset, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { stated, there } => write!(f, "the schema or traits say that they have {stated} bytes, and have {there}"),
            Self::Truncated => f.write_str("the schema or traits end within a part of them"),
            Self::Name => f.write_str("a name is not UTF-8"),
            Self::Tags => f.write_str("tags of more than 28 bits"),
            Self::Type(ty) => write!(f, "a field is of the type {ty}, which is none"),
            Self::Members => f.write_str("a structure has more members than the schema has fields"),
            Self::Reference(index) => write!(f, "a count or length is the value of field {index}, which is not known"),
            Self::Depth => f.write_str("structures and arrays nest too deep"),
            Self::Work => f.write_str("arrays of nothing make it many times what it is"),
            Self::Payload => f.write_str("the payload ends within a value"),
            Self::Rest => f.write_str("the payload goes on behind the last field"),
        }
    }
}

impl core::error::Error for Fault {}

//! Why bytes are not the type that was asked for.

use core::fmt;

/// Bytes that are too few, or not where a type can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where the type was to begin, in bytes.
    pub offset: usize,
    /// Bytes that the type has.
    pub size: usize,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There are only so many bytes from the offset on.
    Short(usize),
    /// The address is no multiple of this alignment, as a reference needs.
    Unaligned(usize),
    /// The layout has no such member.
    Absent,
    /// The value is none that the member can hold.
    Wide,
    /// The member is no number: a structure, or an array.
    NoNumber,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} bytes at {:#x}: ", self.size, self.offset)?;
        match self.reason {
            Reason::Short(left) => write!(f, "there are only {left:#x}"),
            Reason::Unaligned(align) => write!(f, "not aligned to {align}"),
            Reason::Absent => f.write_str("the layout has no such member"),
            Reason::NoNumber => f.write_str("the member is no number"),
            Reason::Wide => f.write_str("the value does not fit into the member"),
        }
    }
}

impl core::error::Error for Error {}

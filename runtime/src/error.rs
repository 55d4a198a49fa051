//! Errors of accessing types in bytes.

use core::fmt;

/// Error of accessing a type in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Offset of the type, in bytes.
    pub offset: usize,
    /// Size of the type, in bytes.
    pub size: usize,
    /// Cause of the error.
    pub reason: Reason,
}

/// Cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There are only this many bytes after the offset.
    Short(usize),
    /// The address is not a multiple of this alignment, which references require.
    Unaligned(usize),
    /// The layout has no such member.
    Absent,
    /// The value does not fit into the member.
    Wide,
    /// The member is not a number, but a structure or an array.
    NoNumber,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} bytes at {:#x}: ", self.size, self.offset)?;
        match self.reason {
            Reason::Short(left) => write!(f, "only {left:#x} bytes left"),
            Reason::Unaligned(align) => write!(f, "not aligned to {align}"),
            Reason::Absent => f.write_str("the layout has no such member"),
            Reason::NoNumber => f.write_str("the member is not a number"),
            Reason::Wide => f.write_str("the value does not fit into the member"),
        }
    }
}

impl core::error::Error for Error {}

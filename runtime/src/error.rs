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
    pub reason: ErrorKind,
}

/// Cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
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
            ErrorKind::Short(left) => write!(f, "only {left:#x} bytes left"),
            ErrorKind::Unaligned(align) => write!(f, "not aligned to {align}"),
            ErrorKind::Absent => f.write_str("the layout has no such member"),
            ErrorKind::NoNumber => f.write_str("the member is not a number"),
            ErrorKind::Wide => f.write_str("the value does not fit into the member"),
        }
    }
}

impl core::error::Error for Error {}

//! A library: its header and its sources.

use super::bytes::{bounded, record, string, u32_at};
use super::format::{FORMAT, HEADER, MAGIC, SOURCE};
use crate::schema::Source;
use core::fmt;

/// A library of schemas, which borrows its bytes. Two libraries are equal if they refer to the same bytes in memory.
#[derive(Clone, Copy)]
pub struct Library<'a>(&'a [u8]);

/// Error of bytes that are not a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LibraryError {
    /// The bytes do not begin with the magic of a library.
    Magic,
    /// The bytes are in another format, with this number.
    Format(u32),
    /// The number of bytes differs from the size in the header.
    Size {
        /// The size in the header.
        stated: u32,
        /// Number of bytes.
        actual: usize,
    },
}

/// A source of schemas in a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin<'a> {
    /// Kind of the source.
    pub source: Source,
    /// Name of a file, or of a version of Windows.
    pub name: &'a str,
    /// Build number of the Windows that has these schemas, if it is known.
    pub build: Option<u32>,
}

/// The sources of a library.
#[derive(Clone, Debug)]
pub struct Origins<'a> {
    library: Library<'a>,
    next: u32,
    count: u32,
}

impl<'a> Library<'a> {
    /// A library without events.
    pub const EMPTY: Library<'static> = Library(&[]);

    /// Reads a library. The header is checked; other parts are checked when they are used.
    ///
    /// # Errors
    ///
    /// The bytes are not a library, or are in another format.
    pub fn read(bytes: &'a [u8]) -> Result<Self, LibraryError> {
        if !bytes.starts_with(&MAGIC) || bytes.len() < HEADER {
            return Err(LibraryError::Magic);
        }
        match (u32_at(bytes, 8), u32_at(bytes, 12)) {
            (FORMAT, size) if usize::try_from(size) == Ok(bytes.len()) => Ok(Self(bytes)),
            (FORMAT, stated) => Err(LibraryError::Size { stated, actual: bytes.len() }),
            (format, _) => Err(LibraryError::Format(format)),
        }
    }

    /// The bytes of the library.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The sources of the schemas. A bit mask of sources has bit 0 for the first.
    pub fn origins(self) -> Origins<'a> {
        Origins { library: self, next: 0, count: bounded(self.0, u32_at(self.0, 16), u32_at(self.0, 20), SOURCE) }
    }

    /// The source with an index.
    pub fn origin(self, index: u32) -> Option<Origin<'a>> {
        let bytes = self.origin_record(index)?;
        Some(Origin {
            source: self.source(index)?,
            name: self.string(u32_at(bytes, 4)),
            build: Some(u32_at(bytes, 8)).filter(|build| *build != 0),
        })
    }

    /// The kind of the source with an index.
    #[inline]
    pub(super) fn source(self, index: u32) -> Option<Source> {
        Source::of(u32_at(self.origin_record(index)?, 0))
    }

    #[inline]
    fn origin_record(self, index: u32) -> Option<&'a [u8; SOURCE]> {
        let count = bounded(self.0, u32_at(self.0, 16), u32_at(self.0, 20), SOURCE);
        record(self.0, u32_at(self.0, 16), Some(index).filter(|index| *index < count)?)
    }

    /// The string at an offset; empty if there is none.
    pub(crate) fn string(self, at: u32) -> &'a str {
        string(self.0, at).unwrap_or_default()
    }
}

impl Default for Library<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for Library<'_> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Library<'_> {}

impl fmt::Debug for Library<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Library({:#x} bytes)", self.0.len())
    }
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a library of schemas: wrong signature"),
            Self::Format(format) => {
                write!(f, "unsupported format of a library of schemas: {format}; this version reads format {FORMAT}")
            }
            Self::Size { stated, actual } => {
                write!(f, "truncated library of schemas: {actual:#x} bytes, the header states {stated:#x}")
            }
        }
    }
}

impl core::error::Error for LibraryError {}

impl<'a> Iterator for Origins<'a> {
    type Item = Origin<'a>;

    fn next(&mut self) -> Option<Origin<'a>> {
        let index = Some(self.next).filter(|next| *next < self.count)?;
        self.next += 1;
        // A source of unknown kind is not left out, so that the indices of later sources stay correct.
        Some(self.library.origin(index).unwrap_or(Origin { source: Source::Manifest, name: "", build: None }))
    }
}

//! Names of fields.

use crate::packed::Library;
use core::fmt;

/// The name of a field. A name in a library is read on demand, because callers that visit all values rarely need all names.
#[derive(Clone, Copy)]
pub(crate) enum FieldName<'a> {
    Text(&'a str),
    /// The library, and the offset of the name.
    Packed(Library<'a>, u32),
}

impl<'a> FieldName<'a> {
    /// The name; empty if the library is corrupt.
    #[inline]
    pub(crate) fn text(self) -> &'a str {
        match self {
            Self::Text(name) => name,
            Self::Packed(library, at) => library.string(at),
        }
    }
}

impl PartialEq for FieldName<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

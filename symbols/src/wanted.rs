//! Selection of types and global variables.

use std::collections::BTreeSet;

/// The types and global variables of a table to read. Types embedded in these are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every named type, and no variables: a kernel has tens of thousands of them.
    All,
    /// Types and variables by name, without the leading underscore of type tags and of variables in 32-bit images. A name that
    /// the table lacks is not an error.
    Named(BTreeSet<String>),
}

impl Wanted {
    /// Whether the type with this name is selected itself.
    pub(crate) fn names(&self, name: &str) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Named(names) => names.contains(name),
        }
    }

    /// The names to search for variables.
    pub(crate) fn variables(&self) -> BTreeSet<&str> {
        match self {
            Wanted::All => BTreeSet::new(),
            Wanted::Named(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

impl<S: Into<String>> FromIterator<S> for Wanted {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Wanted {
        Wanted::Named(names.into_iter().map(Into::into).collect())
    }
}

//! Which types and global variables a reader keeps.

use std::collections::BTreeSet;

/// Which types of a table to keep, and which global variables. Types that these hold by value are kept as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every type that has a name, and no variable: a kernel has tens of thousands.
    All,
    /// Types and variables by name, without the leading underscore of a type's tag and of what 32-bit images have in front of
    /// variables. A name that the table lacks is no error.
    Named(BTreeSet<String>),
}

impl Wanted {
    /// Whether the type of a name is to be kept for itself.
    pub(crate) fn names(&self, name: &str) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Named(names) => names.contains(name),
        }
    }

    /// The names among which the wanted variables are.
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

//! Which types a reader keeps.

use std::collections::BTreeSet;

/// Which types of a table to keep. Those that they hold by value are kept as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every type that has a name.
    All,
    /// Types by name, without the leading underscore of the tag. A name that the table lacks is no error.
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
}

impl<S: Into<String>> FromIterator<S> for Wanted {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Wanted {
        Wanted::Named(names.into_iter().map(Into::into).collect())
    }
}
